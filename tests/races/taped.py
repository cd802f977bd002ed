"""Executes generated programs one after another, under the gate and with the race detector on.

    taped.py GIVEN LEFT

A script that `executing.py` starts. GIVEN has the sources; into LEFT go, for each, the tape of what
the detector was told (`_core/tape.c`) and the races that it found. The clocks go on from program
to program: all threads of one are joined before the next one begins.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from reenact import _core
from reenact.instrument.rewrite import PLACEHOLDER, rewrite

Entry = tuple[str, int, int, int, int]  # kind, thread, object, what, line


def _execute(source: str, number: int) -> tuple[list[Entry], list[dict[str, Any]]]:
    rewritten = rewrite(source.encode(), f"generated{number}.py", accesses=True)
    assert rewritten is not None
    code = _core.plant(rewritten, PLACEHOLDER)
    before = threading.active_count()
    space: dict[str, Any] = {"__name__": "generated"}
    known = len(_core.races_found()[0])
    _core.tape(True)
    exec(code, space)
    while threading.active_count() > before:  # two that join at once do not go well in 3.11
        time.sleep(0)
    for thread in space["threads"][1:]:
        thread.join()
    tape = _core.tape(False)
    races, left_out, overflow, forgotten = _core.races_found()
    assert not left_out and not overflow and not forgotten
    return tape, races[known:]


def _fail(args: threading.ExceptHookArgs) -> None:
    """A program that fails in a thread has not done what it should be judged by."""
    sys.excepthook(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)
    os._exit(1)


def main(given: str, left: str) -> None:
    threading.excepthook = _fail
    sources = json.loads(Path(given).read_text())
    told = [_execute(source, number) for number, source in enumerate(sources)]
    Path(left).write_text(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
