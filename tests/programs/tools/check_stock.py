"""Run the programs under stock Python: exit code, time, something printed, and whether it varies.

Owns the rules of ../README.md that can be checked without reenact. To make races show, a
`sitecustomize` lets every second run pause at random lines; only the others are timed. The test
harness does not need this file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent
LIMIT_S = 0.3
DEADLOCK_S = 0.5
RESTLESS = """
import random, sys, threading, time
chance = random.Random()
sleep = time.sleep
def pause(frame, event, argument):
    if event == "line" and chance.random() < 0.02:
        sleep(0.0001)
    return pause if frame.f_code.co_filename == sys.argv[0] else None
sys.setswitchinterval(1e-6)
threading.settrace(pause)
sys.settrace(pause)
"""


@dataclass
class Expectation:
    """What the `# reenact-test:` lines of a program say."""

    exit: int = 0
    deadlock: bool = False
    args: list[str] = field(default_factory=list)
    stdin: bytes = b""


@dataclass
class Run:
    """The outcome of one run; `exit` is None if it was stopped at the time limit."""

    exit: int | None
    output: tuple[bytes, bytes]
    seconds: float


def read_expectation(program: Path) -> Expectation:
    """Parse the header comments."""
    expected = Expectation()
    for line in program.read_text().splitlines()[:5]:
        if not line.startswith("# reenact-test: "):
            continue
        key, _, value = line.removeprefix("# reenact-test: ").partition("=")
        if key == "exit":
            expected.exit = int(value)
        elif key == "deadlock":
            expected.deadlock = value == "yes"
        elif key == "args":
            expected.args = value.split()
        elif key == "stdin":
            expected.stdin = value.replace("\\n", "\n").encode()
    return expected


def run(python: str, program: Path, expected: Expectation, restless: str | None) -> Run:
    """Run once, in the directory of the programs."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONHASHSEED="1")
    if restless:
        environment["PYTHONPATH"] = restless
    command = [python, str(program), *expected.args]
    limit_s = DEADLOCK_S if expected.deadlock else 30
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command, input=expected.stdin, capture_output=True, env=environment, timeout=limit_s
        )
    except subprocess.TimeoutExpired as late:
        return Run(None, (late.stdout or b"", late.stderr or b""), limit_s)
    return Run(done.returncode, (done.stdout, done.stderr), time.perf_counter() - start)


def judge(expected: Expectation, runs: list[Run]) -> str:
    """All complaints about one program, or an empty string."""
    complaints = []
    wanted = None if expected.deadlock else expected.exit
    exits = {one.exit for one in runs}
    if exits != {wanted}:
        complaints.append(f"exit {exits} instead of {wanted}")
    if not all(any(one.output) for one in runs):
        complaints.append("prints nothing")
    if not expected.deadlock and min(one.seconds for one in runs[::2]) > LIMIT_S:
        complaints.append("too slow")
    return ", ".join(complaints)


def check(python: str, program: Path, count: int, restless: str) -> bool:
    """Run one program `count` times, print its line, and tell whether all is well."""
    expected = read_expectation(program)
    count = min(count, 2) if expected.deadlock else count
    runs = [run(python, program, expected, restless if n % 2 else None) for n in range(count)]
    complaint = judge(expected, runs)
    seconds = [one.seconds for one in runs[::2]]
    distinct = len({one.output for one in runs})
    times = f"{min(seconds):.3f}-{max(seconds):.3f} s"
    variety = f"{distinct:3} of {count} differ"
    print(f"{program.name:34} {times}  {variety}  {complaint or 'ok'}", flush=True)
    return not complaint


def main() -> int:
    """Check the named programs, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--python", action="append", help="interpreter; may be repeated")
    parser.add_argument("--count", type=int, default=6, help="runs of each program")
    options = parser.parse_args()
    programs = options.programs or sorted(PROGRAMS.glob("*.py"))
    well = True
    with tempfile.TemporaryDirectory() as restless:
        Path(restless, "sitecustomize.py").write_text(RESTLESS)
        for python in options.python or [sys.executable]:
            print(python)
            for program in programs:
                well &= check(python, program, options.count, restless)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
