"""Every program, and every IBM pattern, recorded by the parallel engine, and replayed.

    python -m tests.fidelity.parallel --order ditto --recordings 20 --replays 3

Says for each program how many replays were not as recorded. `--only` names programs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import as_completed
from pathlib import Path

from .harness import Cycle, Pool, Variant, cycle, patterns, programs

TOLD_EVERY = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--order", default="sync", choices=("sync", "ditto", "light"))
    parser.add_argument("--recordings", type=int, default=1)
    parser.add_argument("--replays", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--in-parallel", action="store_true", help="the replays, too")
    parser.add_argument("--tries", type=int, default=1, help="at each replay")
    parser.add_argument("--keep", type=Path, help="a directory for recordings that differ")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    known = [*programs(), *patterns()]
    wanted = [each for each in known if not args.only or each.name in args.only]
    variants = [
        Variant("queue", seed, 0, args.order, args.in_parallel, args.tries)
        for seed in range(args.recordings)
    ]
    results: dict[str, list[Cycle]] = {}
    if args.keep is not None:
        args.keep.mkdir(parents=True, exist_ok=True)
    with Pool(args.workers) as pool:
        futures = {
            pool.submit(cycle, program, variant, args.replays, args.keep): program.name
            for program in wanted
            for variant in variants
        }
        for done, future in enumerate(as_completed(futures), 1):
            result = future.result()
            results.setdefault(futures[future], []).append(result)
            if result.complaints:
                print(f"{result.program}: {result.complaints[0]}", file=sys.stderr, flush=True)
            if done % TOLD_EVERY == 0:
                print(f"{done} of {len(futures)} recordings", file=sys.stderr, flush=True)
    return report(results, args.verbose)


def report(results: dict[str, list[Cycle]], is_verbose: bool) -> int:
    bad = {name: [each for each in cycles if each.complaints] for name, cycles in results.items()}
    for name in sorted(name for name, cycles in bad.items() if cycles):
        print(f"{name}: {len(bad[name])} of {len(results[name])} recordings")
        for complaint in bad[name][0].complaints if is_verbose else bad[name][0].complaints[:1]:
            print("    " + complaint.replace("\n", "\n    "))
    cycles = [each for found in results.values() for each in found]
    total = len(cycles)
    wrong = sum(map(len, bad.values()))
    replays = sum(each.replays for each in cycles)
    counts = f"{len(results)} programs, {total} recordings, {replays} replays"
    tries = Counter(number for each in cycles for number in each.tries)
    for number, count in sorted(tries.items()):
        print(f"{count} replays at try {number}" if number > 1 else f"{count} at the first try")
    print(f"{counts}, {wrong} not as recorded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
