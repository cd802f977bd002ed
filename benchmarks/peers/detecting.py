"""What the drivers of race detectors share. Each runs one program in a process of its own:

    python threadcheck_driver.py [--lines FILE] PROGRAM ARGS...

The program's output goes where it always goes. Exit code 0: no race reported, 1: some; anything
else: the tool failed. FILE gets the lines of the two accesses of each race as JSON, null for one
that the tool does not tell.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

Lines = list[tuple[int | None, int | None]]


@dataclass(frozen=True)
class Request:
    """What is to be run."""

    program: str
    lines: Path | None

    def finish(self, found: Lines) -> NoReturn:
        """End with what was reported."""
        if self.lines is not None:
            self.lines.write_text(json.dumps(found))
        raise SystemExit(1 if found else 0)


def read_request() -> Request:
    """Read the command line; from now on the program has its own arguments and directory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=Path)
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    sys.argv = [options.program, *options.args]
    sys.path[0] = str(Path(options.program).resolve().parent)
    return Request(options.program, options.lines)
