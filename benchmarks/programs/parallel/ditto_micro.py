"""Ditto's microbenchmark: threads load and store random fields of random shared objects, unlocked.

After chapter 5 of the thesis on Ditto: six axes (figures 5.1 to 5.6), each an option; `--pattern
overlap` is the one of figure 5.7, where each thread goes over a piece of the objects that
overlaps those of its neighbours. Each thread has its operations from a generator of its own. What
a store writes depends on the last value loaded: so the checksum of all fields depends on how the
threads interleaved, and that of one thread's loads is printed by itself.
"""

import argparse
import os
from random import Random
from zlib import crc32

from team import Team

Operation = tuple[int, str, bool]
# What a thread does is drawn beforehand, so many operations, and done again and again: a plan for
# each would fill the memory, and collections of garbage the time.
DRAWN = 20_000


class Shared:
    """An object with as many fields as asked for, called f0, f1 and so on."""

    def __init__(self, names: list[str]) -> None:
        for name in names:
            setattr(self, name, 0)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--operations", type=int, default=50_000, help="of each thread")
    parser.add_argument("--ratio", default="1:1", help="loads:stores")
    parser.add_argument("--fields", type=int, default=4, help="of each object")
    parser.add_argument("--objects", type=int, default=8)
    parser.add_argument("--processors", type=int, help="how many to run on; all if not said")
    parser.add_argument("--pattern", choices=("random", "overlap"), default="random")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def plan(options: argparse.Namespace, thread: int) -> list[Operation]:
    """What one thread does, again and again; the measured loop has only accesses in it."""
    random = Random(options.seed * 10_007 + thread)
    loads, stores = map(int, options.ratio.split(":"))
    names = [f"f{number}" for number in range(options.fields)]
    operations = []
    for turn in range(min(options.operations, DRAWN)):
        if options.pattern == "overlap":
            piece = max(1, 2 * options.objects // options.threads)
            first = thread * options.objects // options.threads
            place = (first + turn // options.fields % piece) % options.objects
            name = names[turn % options.fields]
        else:
            place = random.randrange(options.objects)
            name = random.choice(names)
        operations.append((place, name, random.randrange(loads + stores) >= loads))
    return operations


def access(shared: list[Shared], plan: list[Operation], count: int) -> tuple[int, int]:
    """Do so many operations; the last value loaded, and all of them mixed into one."""
    value = mixed = 0
    for done in range(0, count, len(plan)):
        for place, name, is_store in plan[: count - done]:
            if is_store:
                setattr(shared[place], name, (value * 5 + 3) & 0xFFFFFF)
            else:
                value = getattr(shared[place], name)
                mixed = (mixed * 31 + value) & 0xFFFFFFFF
    return value, mixed


def main() -> None:
    """Run the threads, and tell what they left."""
    options = parse()
    if options.processors:
        available = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, available[: options.processors])
    names = [f"f{number}" for number in range(options.fields)]
    shared = [Shared(names) for _ in range(options.objects)]
    plans = [plan(options, thread) for thread in range(options.threads)]
    loaded = [(0, 0)] * options.threads
    team = Team(options.threads)

    def work(thread: int) -> None:
        team.barrier.wait()
        loaded[thread] = access(shared, plans[thread], options.operations)

    team.run(work)
    print(f"loaded {crc32(repr(loaded).encode()):08x}")
    team.finish([[getattr(item, name) for name in names] for item in shared])


main()
