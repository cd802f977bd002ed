"""iReplayer's table 2: how many re-executions it takes until a crash by a race is seen again.

    python -m tests.guard.crashing [--runs 10000] [--dying 100]

A run is two threads that race, in an epoch of its own: `--runs` of them in processes of 1000 each,
where a crash is an uncaught exception, and `--dying` in a process each, where it is a SIGSEGV. Each
crash is run again from the copy that its epoch began with, and must come to the same step, thread
and end. Exits with 1 unless each does at the first try.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reenact.engine.launch import Choices, Program
from reenact.guard.again import run_again
from reenact.guard.keeper import Failure, Keeper, Limits
from tests.guard.images import silence

PROGRAM = Path(__file__).parent / "programs" / "crasher.py"
AT_ONCE = 1000


@dataclass
class Crashes:
    """Runs, and crashes by the number of tries that they took; 0 for those that never agreed."""

    runs: int = 0
    tries: Counter[int] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)

    def see(self, failure: Failure) -> bool:
        again = run_again(failure)
        self.tries[0 if again.disagreement else again.tries] += 1
        if again.disagreement:
            self.disagreements.append(again.disagreement)
        return True

    @property
    def is_well(self) -> bool:
        return self.tries.total() == self.tries[1] > 0

    def __str__(self) -> str:
        found = ", ".join(
            f"{count} {f'at try {tries}' if tries else 'never'}"
            for tries, count in sorted(self.tries.items())
        )
        crashes = f"{self.tries.total():,} of {self.runs:,} runs crashed"
        return "\n".join([f"{crashes}; seen again: {found or 'none'}", *self.disagreements[:3]])


def crash(runs: int, crashes: Crashes, *words: str) -> None:
    """In one process."""
    program = Program("script", str(PROGRAM), (str(runs), *words))
    with silence():
        Keeper(program, Choices("queue", 0, 0, 5000), Limits(), crashes.see).run()
    crashes.runs += runs


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--dying", type=int, default=100)
    options = parser.parse_args()
    raising, dying = Crashes(), Crashes()
    for done in range(0, options.runs, AT_ONCE):
        crash(min(AT_ONCE, options.runs - done), raising)
    print("exceptions:", raising, flush=True)
    for _ in range(options.dying):
        crash(1, dying, "dying")
    print("signals:", dying)
    is_well = (raising.is_well or not options.runs) and (dying.is_well or not options.dying)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
