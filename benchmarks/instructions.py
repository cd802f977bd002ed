"""Count what the memory tools add to the instructions of the compute programs, with valgrind.

    python benchmarks/instructions.py [--python PYTHON] [PROGRAM...]

Times differ from run to run on a machine that is in use; numbers of instructions hardly do. Each
program is run with two amounts of work, and the difference is what counts: what is done once, at
the beginning and at the end, is left out. Valgrind knows not all system calls that `reenact run`
needs, so that blocks are covered here without epochs and without ticks.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys

from run import COMPUTE, HERE

LESS, MORE = "0.02", "0.06"
COVER = "from reenact import _core; _core.canaries_begin(True, True); "
PROGRAM = "import runpy; runpy.run_path({path!r}, run_name='__main__')"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter that has reenact")
    parser.add_argument("programs", nargs="*", default=COMPUTE)
    options = parser.parse_args()
    ratios = [compared(options.python, name) for name in options.programs]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':20} {mean:36.3f}x")
    return 0


def compared(python: str, name: str) -> float:
    stock, covered = (added(python, name, first) for first in ("", COVER))
    print(
        f"{name:20} {stock / 1e6:12.1f} M {covered / 1e6:12.1f} M {covered / stock:8.3f}x",
        flush=True,
    )
    return covered / stock


def added(python: str, name: str, first: str) -> int:
    """The instructions that more work takes."""
    return instructions(python, name, first, MORE) - instructions(python, name, first, LESS)


def instructions(python: str, name: str, first: str, scale: str) -> int:
    folder = HERE / "programs"
    code = first + PROGRAM.format(path=str(folder / f"{name}.py"))
    valgrind = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}")
    done = subprocess.run(
        [*valgrind, python, "-c", code, "2", scale],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"},
    )
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None:
        raise SystemExit(f"no count of instructions:\n{done.stderr}")
    return int(counted[1])


if __name__ == "__main__":
    sys.exit(main())
