"""Runs a program with threadcheck, by the steps that its README gives for use as a library.

Its command `threadcheck run` takes these steps, too, but passes no arguments on to the program.
"""

from __future__ import annotations

import sys
from pathlib import Path

from detecting import read_request
from threadcheck.dynamic.tracker import ThreadCheckTracker
from threadcheck.dynamic.transform import transform_and_compile


def main() -> None:
    request = read_request()
    code = transform_and_compile(Path(request.program).read_text(), request.program)
    ThreadCheckTracker.start()
    try:
        names = {"__name__": "__main__", "__file__": request.program}
        exec(code, names)
    finally:
        ThreadCheckTracker.stop()
    races = ThreadCheckTracker.detect_races()
    request.finish([(first.location[1], second.location[1]) for _, first, second in races])


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(2)
