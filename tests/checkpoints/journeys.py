"""Travels through the programs of the fidelity suite, one after the other, and counts what differs.

python -m tests.checkpoints.journeys [--places N] [--stops N] [--writes N] [PROGRAM...]

Of each program: random places compared with a replay that went there straight; from the end back to
the beginning by breakpoints and forward again, compared with a trace of all lines; and the last
writes to variables, compared with a trace of all writes. What is 0 is left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from .harness import RANDOM, Pool, Program, programs
from .last_writes import UNTRACEABLE, check_last_writes
from .moving import OWN_TRACE, Journey, check_gotos, check_reverse

LEFT_OUT: dict[str, tuple[str, ...]] = {
    "places": (),  # of programs with a trace of their own only steps are gone to
    "stops": OWN_TRACE,
    "writes": (*OWN_TRACE, *UNTRACEABLE),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--stops", type=int, default=20)
    parser.add_argument("--writes", type=int, default=20)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    todo: list[tuple[str, Callable[..., Journey], int]] = [
        ("places", check_gotos, options.places),
        ("stops", check_reverse, options.stops),
        ("writes", check_last_writes, options.writes),
    ]
    wanted = options.programs or [each.name for each in programs()]
    travelled = [each for each in programs() if each.name in wanted]
    looked = {name: 0 for name, _, _ in todo}
    different: list[str] = []
    for program in travelled:
        began = time.monotonic()
        print(program.name, end="", flush=True)
        for name, check, count in todo:
            if count and program.name not in LEFT_OUT[name]:
                journey = journey_through(program, check, count)
                looked[name] += journey.looked
                different += journey.complaints
                print(f", {journey.looked} {name}", end="", flush=True)
                print("".join(f"\n  {each}" for each in journey.complaints), end="", flush=True)
        print(f" ({time.monotonic() - began:.0f} s)", flush=True)
    for name, reason in UNTRACEABLE.items():
        if name in wanted and options.writes:
            print(f"{name}: last writes not compared, {reason}")
    print(f"{len(travelled)} programs, {looked}, {len(different)} differences")
    sys.exit(1 if different else 0)


def journey_through(program: Program, check: Callable[..., Journey], count: int) -> Journey:
    """In a process of its own; what it raises is a difference, too."""
    with Pool(1) as pool:
        try:
            return pool.submit(check, program, RANDOM, count).result()
        except Exception as error:
            return Journey(program.name, 0, [f"{program.name}: {type(error).__name__}: {error}"])


if __name__ == "__main__":
    main()
