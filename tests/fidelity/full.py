"""Many recordings of every program, each replayed several times: how often does a replay differ?

    python -m tests.fidelity.full --python ~/.pyenv/versions/3.12.1/bin/python --workers 2
    python -m tests.fidelity.full race_list queue_fifo --json result.json

Prints a line of progress, what went wrong as it happens, and a table of the programs with trouble.
Exits with 1 if there was any.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .. import conftest  # noqa: F401 - finds reenact
from .harness import Cycle, Pool, Program, Variant, cycle, ditto, programs

# The queue strategy makes the same choices for the same slice, so its recordings differ in that.
SLICES = (
    1, 2, 3, 5, 7, 13, 20, 31, 50, 77, 100, 150, 200, 333, 500, 750, 1000, 2000, 3500, 5000
)  # fmt: skip
FULL_VARIANTS = (
    *(Variant("random", seed=seed) for seed in range(1, 21)),
    *(Variant("queue", slice=slice) for slice in SLICES),
)
FULL_REPLAYS = 3
BIG = (ditto(8, 100_000),)


@dataclass
class Row:
    """What came of all recordings of one program."""

    program: str
    recordings: int = 0
    replays: int = 0
    divergences: int = 0  # replays that diverged or differed in any way
    bad_recordings: int = 0  # wrong exit code, lost output, not readable
    moved: int = 0
    complaints: list[str] = field(default_factory=list)

    def add(self, done: Cycle) -> None:
        self.recordings += 1
        self.replays += done.replays
        self.divergences += done.diverged
        self.bad_recordings += bool(done.complaints) and not done.diverged
        self.moved += done.moved
        self.complaints += done.complaints

    @property
    def is_fine(self) -> bool:
        return not self.complaints


def main() -> int:
    options = parse()
    if options.python is not None:
        return start_again(options.python)
    chosen = [each for each in (*programs(), *BIG) if options.wants(each.name)]
    variants = FULL_VARIANTS[:: options.every]
    rows = {program.name: Row(program.name) for program in chosen}
    total = len(chosen) * len(variants)
    with Pool(options.workers) as pool:
        for count, done in enumerate(run(pool, chosen, variants, options.replays), 1):
            rows[done.program].add(done)
            tell(done, count, total, rows.values())
    print(table(rows.values()))
    if options.json is not None:
        Path(options.json).write_text(json.dumps(summary(rows.values()), indent=2) + "\n")
    return 0 if all(row.is_fine for row in rows.values()) else 1


class Options(argparse.Namespace):
    programs: list[str]
    python: str | None
    workers: int
    replays: int
    every: int
    json: str | None

    def wants(self, name: str) -> bool:
        return not self.programs or any(name.startswith(each) for each in self.programs)


def parse() -> Options:
    parser = argparse.ArgumentParser(prog="python -m tests.fidelity.full", description=__doc__)
    parser.add_argument("programs", nargs="*", help="names, or how they begin; default: all")
    parser.add_argument("--python", help="the interpreter to test; default: this one")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--replays", type=int, default=FULL_REPLAYS, help="of each recording")
    parser.add_argument("--every", type=int, default=1, help="only every N-th kind of recording")
    parser.add_argument("--json", help="write the result to this file, too")
    return parser.parse_args(namespace=Options())


def start_again(python: str) -> int:
    """With the interpreter that is to be tested."""
    words = sys.argv[1:]
    at = next(i for i, word in enumerate(words) if word.startswith("--python"))
    del words[at : at + (1 if "=" in words[at] else 2)]
    os.execv(python, [python, "-m", "tests.fidelity.full", *words])


def run(
    pool: Pool, chosen: list[Program], variants: tuple[Variant, ...], replays: int
) -> Iterator[Cycle]:
    futures = [
        pool.submit(cycle, program, variant, replays)
        for program in sorted(chosen, key=lambda each: each not in BIG)  # the longest first
        for variant in variants
    ]
    for future in as_completed(futures):
        yield future.result()


def tell(done: Cycle, count: int, total: int, rows: Iterable[Row]) -> None:
    if done.complaints:
        print(f"\r{done.program} {done.variant.options()}")
        print("\n".join(f"  {line}" for line in "\n".join(done.complaints).splitlines()))
    if sys.stdout.isatty() or count % 100 == 0 or count == total:
        replays = sum(row.replays for row in rows)
        divergences = sum(row.divergences for row in rows)
        end = "\r" if sys.stdout.isatty() else "\n"
        print(f"{count}/{total} recordings, {replays} replays, {divergences} diverged", end=end)
        sys.stdout.flush()


def table(rows: Iterable[Row]) -> str:
    rows = list(rows)
    shown = [row for row in rows if not row.is_fine or row.moved]
    total = Row(f"all {len(rows)} programs")
    for row in rows:
        total.recordings += row.recordings
        total.replays += row.replays
        total.divergences += row.divergences
        total.bad_recordings += row.bad_recordings
        total.moved += row.moved
    heading = (
        f"\n{'program':34}{'recordings':>11}{'bad':>5}{'replays':>9}{'diverged':>9}{'moved':>7}"
    )
    return "\n".join([heading, *(_line(row) for row in (*shown, total))])


def _line(row: Row) -> str:
    return (
        f"{row.program:34}{row.recordings:11}{row.bad_recordings:5}{row.replays:9}"
        f"{row.divergences:9}{row.moved:7}"
    )


def summary(rows: Iterable[Row]) -> dict[str, object]:
    return {
        "python": sys.version.split()[0],
        "programs": [asdict(row) for row in rows],
    }


if __name__ == "__main__":
    sys.exit(main())
