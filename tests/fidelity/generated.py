"""Generated programs that race, recorded by the parallel engine: what they read and end with.

    python -m tests.fidelity.generated --programs 2000

The programs are those of `tests/races/generated.py`. Each thread prints what it has read, and the
main thread prints at the end what there is then: a replay that prints the same has read the
same values.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from concurrent.futures import as_completed
from pathlib import Path

from ..races.generated import program
from .harness import Pool, Program, Variant, cycle

_READ = re.compile(r"^(?P<indent> *)(?P<guard>with suppress\(IndexError\): )?own = ")
_END = """
for thread in threads:
    if thread.ident is not None:
        thread.join()
print("at the end", vars(box0), vars(box1), slotted0.a0, slotted0.a1, slotted1.a0, slotted1.a1)
print(counter0, counter1, numbers0, numbers1, names0, names1, sorted(seen0), sorted(seen1))
print(list(line0), list(line1))
"""


def source(seed: int) -> str:
    lines = program(seed).source.splitlines()
    return "\n".join(map(_telling, lines)) + _END


def _telling(line: str) -> str:
    """A line that reads also says what."""
    found = _READ.match(line)
    if found is None:
        return line
    if found["guard"]:
        return f"{line}; print(own)"
    return f"{line}; print(threading.current_thread().name, own)"


def check(seed: int, order: str) -> list[str]:
    """Record and replay one; what was not the same."""
    with tempfile.TemporaryDirectory(prefix="reenact-generated-") as scratch:
        path = Path(scratch, f"generated_{seed}.py")
        path.write_text(source(seed), "utf-8")
        made = Program(path.stem, path)
        return cycle(made, Variant("queue", order=order), 1).complaints


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--order", default="ditto", choices=("sync", "ditto", "light"))
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    wrong = 0
    with Pool(args.workers) as pool:
        seeds = range(args.first, args.first + args.programs)
        futures = {pool.submit(check, seed, args.order): seed for seed in seeds}
        for future in as_completed(futures):
            complaints = future.result()
            wrong += bool(complaints)
            if complaints:
                print(f"program {futures[future]}: {complaints[0]}")
    print(f"{args.programs} programs, {wrong} not as recorded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
