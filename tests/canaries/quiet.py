"""Runs a correct program with canaries, and prints how many blocks were found damaged.

    quiet.py EVERYTHING PROGRAM [ARGUMENTS]

There are checks on the way as well, while the program's threads run.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading

from reenact import _core

everything, program = sys.argv[1] == "yes", sys.argv[2]
sys.argv = sys.argv[2:]
sys.path.insert(0, os.path.dirname(program))
_core.canaries_begin(True, True, everything)
found: list[tuple[str, int, int, int, int]] = []
is_over = threading.Event()


def check() -> None:
    while not is_over.wait(0.05):
        found.extend(_core.canaries_check())


checking = threading.Thread(target=check)
checking.start()
try:
    runpy.run_path(program, run_name="__main__")
finally:
    is_over.set()
    checking.join()
found.extend(_core.canaries_check())
_core.canaries_end()
found.extend(_core.canaries_check())
print("damaged", len(found), found[:3])
