"""Runs a scenario in a copy of this process, and then again here, with what was found watched.

    driver.py SCENARIO

The copy stands for the run, this process for its re-execution. Prints what was found and what was
learned of it as JSON. Needs the directory of `misbehaving` in the path.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from reenact import _core
from scenarios import SCENARIOS


def receive(descriptor: int) -> list[Any]:
    """All that the copy has found."""
    with os.fdopen(descriptor) as file:
        found: list[Any] = json.load(file)
    os.wait()
    return found


def described(watched: tuple[Any, ...]) -> list[Any]:
    *rest, callee = watched
    return [*rest, None if callee is None else callee.__name__]


def main() -> None:
    function, _ = SCENARIOS[sys.argv[1]]
    _core.canaries_begin(True, True)
    reading, writing = os.pipe()
    if os.fork() == 0:
        function()
        found = _core.canaries_check()
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    found = _core.quietly(receive, reading)
    _core.canaries_watch([each[4] for each in found])
    function()
    watched = _core.canaries_watched()
    _core.canaries_watch([])
    print(json.dumps({"found": found, "watched": [described(each) for each in watched]}))
    sys.stdout.flush()
    os._exit(0)  # with memory as it is now, nobody knows how an orderly end would go


main()
