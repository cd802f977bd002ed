"""Compares the verdicts of the race detector and of the oracle on generated programs.

    python -m tests.races.agreeing [--programs 10000] [--from 0] [--strategy random] [--jobs 2]

Prints each seed on which they differ, and how; `python -m tests.races.generated SEED` shows its
program.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.races import generated, oracle
from tests.races.executing import Execution, executed

BATCH = 100  # programs in one process
SLICES = (1, 3, 10)


@dataclass
class Agreement:
    programs: int = 0
    racy: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, other: Agreement) -> None:
        self.programs += other.programs
        self.racy += other.racy
        self.differences += other.differences


def compare(seeds: Sequence[int], strategy: str = "random") -> Agreement:
    """One process; the first seed says how its threads take turns."""
    programs = [generated.program(seed) for seed in seeds]
    slice = SLICES[seeds[0] // BATCH % len(SLICES)]
    sources = [program.source for program in programs]
    found = Agreement()
    for seed, program, execution in zip(
        seeds, programs, executed(sources, strategy, seeds[0], slice), strict=True
    ):
        found.add(_compared(seed, program, execution))
    return found


def _compared(seed: int, program: generated.Program, execution: Execution) -> Agreement:
    right = {
        program.variable((race.first.line, race.first.mode), (race.second.line, race.second.mode))
        for race in oracle.races(execution.events)
    }
    told = {program.variable(first, second) for first, second in execution.racy}
    texts = [f"seed {seed}: {_shown(right - told)} missed"] if right - told else []
    texts += [f"seed {seed}: {_shown(told - right)} reported"] if told - right else []
    return Agreement(1, bool(right), texts)


def _shown(targets: Iterable[generated.Target]) -> str:
    shown = [
        each.object if each.what is None else f"{each.object}[{each.what}]" for each in targets
    ]
    return ", ".join(sorted(shown))


def _main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--strategy", default="random")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    end = args.first + args.programs
    batches = [range(at, min(at + BATCH, end)) for at in range(args.first, end, BATCH)]
    all_found = Agreement()
    with ThreadPoolExecutor(args.jobs) as pool:
        for found in pool.map(lambda seeds: compare(seeds, args.strategy), batches):
            all_found.add(found)
            for text in found.differences:
                print(text, flush=True)
    print(f"{all_found.programs:,} programs, of which {all_found.racy:,} raced; "
          f"{len(all_found.differences):,} differences")  # fmt: skip
    return min(len(all_found.differences), 1)


if __name__ == "__main__":
    sys.exit(_main())
