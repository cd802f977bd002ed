"""Explores a workload with reenact; arguments and output as driver.py says.

`explore` takes a number of runs, not of seconds: the number grows until one call takes most of
the seconds, and that call alone counts, its start-up included.
"""

from __future__ import annotations

from time import perf_counter

import workloads
from driver import Answer, Request, read_request

import reenact

FIRST_RUNS = 100
LEAST_SHARE = 0.6
MOST_GROWTH = 20


def main() -> None:
    request = read_request()
    if not hasattr(reenact, "explore"):
        raise SystemExit("this reenact has no explore()")
    runs = FIRST_RUNS
    answer = explore_once(request, runs)
    while answer.failure is None and answer.seconds < LEAST_SHARE * request.seconds:
        if answer.schedules < runs:  # all there are
            break
        runs = int(runs * min(MOST_GROWTH, max(2, request.seconds / answer.seconds)))
        answer = explore_once(request, runs)
    answer.print()


def explore_once(request: Request, runs: int) -> Answer:
    function = getattr(workloads, request.workload)
    options = {"seed": request.seed, "jobs": request.jobs}
    start = perf_counter()
    result = reenact.explore(function, strategy=request.strategy, runs=runs, **options)
    seconds = perf_counter() - start
    failure = None if result.failure is None else str(result.failure).splitlines()[0]
    return Answer(result.runs, seconds, failure)


if __name__ == "__main__":
    main()
