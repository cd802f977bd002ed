"""Solving: how long it takes to find a schedule for what Light's order recorded, by the number of
dependences, as in table 1 of Light.

    python benchmarks/solving.py --dependences 10000 100000 1000000 --misled 0 10

Threads access locations at random, as a model of the recorder (tests/unit/engine/flow.py) notes
it. A dependence is an interval that begins with a read of another interval's write. `misled` is how
many hints are wrong by some thousand; what is in conflict then goes to the solver. Seconds are
those that went by, and of the processor; the time to put the threads in line by what was found is
told apart.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from tests.unit.engine.flow import Access, Recorder  # noqa: E402

from reenact.engine.linear import Linear  # noqa: E402
from reenact.engine.solve import solve  # noqa: E402
from reenact.recordings.lanes import ACCESS, INITIAL, Interval, Item  # noqa: E402

THREADS, LOCATIONS, RUN = 8, 1000, 4  # a thread makes so many accesses in a row, in the mean
FARTHEST = 5000  # a hint is wrong by; those of a location are some thousand apart
KINDS = ("read", "read", "read", "write", "update")


def executed(choose: random.Random) -> Iterator[Access]:
    while True:
        thread = choose.randrange(THREADS)
        for _ in range(choose.randrange(1, 2 * RUN)):
            yield Access(thread, choose.randrange(LOCATIONS), choose.choice(KINDS))


def recorded(dependences: int, choose: random.Random) -> tuple[list[Interval], dict[int, int]]:
    """What is noted of an execution, and how far each thread came."""
    recorder = Recorder()
    positions = dict.fromkeys(range(THREADS), 0)
    counted = found = 0
    for access in executed(choose):
        positions[access.thread] += 1
        recorder.note(access, positions[access.thread])
        while counted < len(recorder.intervals):
            found += recorder.intervals[counted].source not in (None, INITIAL)
            counted += 1
        if found >= dependences:
            return recorder.close(), positions
    raise AssertionError("threads go on for ever")


def mislead(intervals: list[Interval], count: int, choose: random.Random) -> None:
    for _ in range(count):
        at = choose.randrange(len(intervals))
        wrong = intervals[at].hint + choose.randrange(-FARTHEST, FARTHEST)
        intervals[at] = intervals[at]._replace(hint=wrong)


class Nowhere:
    """Nobody writes the schedule down."""

    def switch(self, step: int, kind: str, thread: int) -> None: ...
    def happens(self, step: int, thread: int, item: Item) -> None: ...
    def end(self, step: int, is_deadlock: bool) -> None: ...


def measure(dependences: int, misled: int, seed: int) -> None:
    choose = random.Random(seed)
    intervals, positions = recorded(dependences, choose)
    mislead(intervals, misled, choose)
    lanes = {thread: [Item(last + 1, ACCESS)] for thread, last in positions.items()}
    start, start_busy = time.perf_counter(), time.process_time()
    found = solve(lanes, intervals)
    solved, solved_busy = time.perf_counter(), time.process_time()
    Linear(found, frozenset(), frozenset(), {}, False).run(Nowhere())
    lined_up_busy = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{sum(positions.values()):>10} {dependences:>12} {len(intervals):>10} {misled:>7}"
        f" {solved - start:>9.2f} {solved_busy - start_busy:>9.2f}"
        f" {lined_up_busy - solved_busy:>9.2f} {memory:>7}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    parser.add_argument("--dependences", type=int, nargs="+", default=sizes)
    parser.add_argument("--misled", type=int, nargs="+", default=[0])
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("  accesses  dependences  intervals  misled   solve s solve cpu  line cpu  MiB up to now")
    for dependences in args.dependences:
        for misled in args.misled:
            measure(dependences, misled, args.seed)


if __name__ == "__main__":
    main()
