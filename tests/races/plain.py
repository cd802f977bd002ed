"""Runs scripts as Python does, each in a fork of this process, and says which ended badly.

    python -m tests.races.plain SCRIPT...

A new interpreter for each of several hundred programs would take most of a minute.
"""

from __future__ import annotations

import asyncio  # noqa: F401 - once, instead of in every fork
import concurrent.futures.thread  # noqa: F401
import multiprocessing.pool  # noqa: F401
import os
import runpy
import sys
import traceback
from collections.abc import Callable


def main(paths: list[str]) -> int:
    sys.setswitchinterval(1e-5)
    failed = [path for path in paths if in_a_fork(run, path) != 0]
    for path in failed:
        print(f"failed: {path}", flush=True)
    return min(len(failed), 1)


def run(path: str) -> None:
    sys.argv = [path]
    sys.path[0] = os.path.dirname(path)
    runpy.run_path(path, run_name="__main__")


def in_a_fork(function: Callable[[str], object], path: str) -> int:
    """Its exit code. It ends as an interpreter does: threads are waited for, exits are called."""
    child = os.fork()
    if child != 0:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        function(path)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
