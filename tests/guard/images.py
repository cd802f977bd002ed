"""iReplayer's table 1: what differs between the memory of a run and that of its re-execution.

    python -m tests.guard.images [PROGRAM...]

Each program is run in one epoch, with a call of `reenact.rollback` as its last line. In all pools
of Python's allocator that hold an object of the program's, or one that such an object refers to,
blocks that are in use are then compared byte by byte; the same ones must be in use. Prints a line
for each program; without names, for those below. Exits with 1 if a re-execution came to another
end.
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reenact.engine.launch import Choices, Program
from reenact.guard.again import run_again
from reenact.guard.epoch import EpochTraveller
from reenact.guard.keeper import Failure, Keeper, Limits
from reenact.recordings.reader import Recording
from tests.guard.image import POOLS, Difference, compare

ROOT = Path(__file__).parents[2]
PLACES = (ROOT / "tests/guard/programs", ROOT / "tests/programs", ROOT / "benchmarks/programs")
LAST = "\n\nimport reenact\n\nreenact.rollback('the end')\n"
# Computation and synchronisation; then programs that are given data by the outside.
NAMES = """
    well barrier condition_notify_all contextvars_threads dining_philosophers event gc_cycles
    id_reuse lock_order merge_sort pool_map queue_priority readers_writers semaphore
    sleeping_barber thread_local thread_many_short timer work_stealing
    nbody fannkuch task_simulation json_parser nested_loops orbits tree lock_heavy
    ditto_microbenchmark asyncio_loops logging_queue input_files_modes input_sockets_pair
"""
SMALL = "2 0.1"  # how many threads of a benchmark, and how much of its work


@dataclass(frozen=True)
class Image:
    """Of one program: whether its re-execution agreed, and what differs."""

    name: str
    disagreement: str
    difference: Difference

    def __str__(self) -> str:
        found = self.difference
        part = 100 * found.differing / max(found.compared, 1)
        size = f"{found.compared / 1e6:6.1f} MB {found.differing:8,} bytes {part:8.4f} %"
        return f"{self.name:22} {size}  {self.disagreement or 'same steps, same end'}"


def path_of(name: str) -> Path:
    return next(path for place in PLACES if (path := place / f"{name}.py").exists())


@contextlib.contextmanager
def ending_in_rollback(path: Path) -> Iterator[Path]:
    """A copy of the program beside what it imports."""
    with tempfile.TemporaryDirectory(prefix="images-") as place:
        for each in path.parent.glob("*.py"):
            Path(place, each.name).symlink_to(each)
        copy = Path(place, f"rolled_{path.name}")
        copy.write_text(path.read_text("utf-8") + LAST, "utf-8")
        yield copy


def look(name: str) -> Image:
    """Run it, and compare where it is at its end with where its re-execution is."""
    path = path_of(name)
    argv = SMALL.split() if path.parent.parent.name == "benchmarks" else []
    seen: list[Image] = []

    def on_failure(failure: Failure) -> bool:
        seen.append(compared(name, failure))
        return True

    with ending_in_rollback(path) as copy, silence():
        program = Program("script", str(copy), tuple(argv))
        for handler in (lambda failure: True, on_failure):  # once to have its code in the cache
            Keeper(program, Choices("queue", 0, 0, 5000), Limits(), handler).run()
    return seen[-1] if seen else Image(name, "it did not come to its end", Difference(0, 0, ""))


def compared(name: str, failure: Failure) -> Image:
    disagreement = run_again(failure).disagreement
    recording = Recording.open(failure.directory)
    with EpochTraveller(recording, frozen=failure.frozen, until=failure.step) as traveller:
        stop = traveller.go_to_end()
        said = traveller.ask("evaluate", thread=stop.thread, text=POOLS)
        again = traveller._start()
        try:
            again.run(-1)
            difference = compare(failure.pid, again.pid, ast.literal_eval(said["value"]))
        finally:
            again.close()
    return Image(name, disagreement, difference)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """What the program prints is of no interest."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def main() -> int:
    images = []
    for name in sys.argv[1:] or NAMES.split():
        images.append(look(name))
        print(images[-1], flush=True)
    same = sum(each.difference.differing == 0 for each in images)
    print(f"{len(images)} programs, {same} without any difference")
    return 1 if any(each.disagreement for each in images) else 0


if __name__ == "__main__":
    sys.exit(main())
