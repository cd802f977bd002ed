"""Explores a workload with frontrun; arguments and output as driver.py says.

Strategies: `dpor` and `random`. The settings are those that made it fastest here: no detection
of I/O, no replays of what was found, and without its command's library for I/O in C.
"""

from __future__ import annotations

import os
from time import perf_counter
from typing import Any

import frontrun
from driver import Answer, Request, limit_memory, read_request
from workloads import WORKLOADS

RUN_LIMIT_S = 120.0
SMALL_RUN_LIMIT_S = 10.0  # where a small program hangs, we want to hear of it
LONG_RUN_OPERATIONS = 250_000  # for `random`; with fewer it gives no verdict on 10,000 iterations


def main() -> None:
    os.environ["FRONTRUN_ACTIVE"] = "1"  # what its command sets; without it nothing is explored
    request = read_request()
    limit_memory()
    answer = Answer()
    start = perf_counter()
    number = 0
    while is_to_go_on(answer, perf_counter() - start, request):
        left_s = request.seconds - (perf_counter() - start)
        result = explore_once(request, request.seed * 1000 + number, left_s)
        keep(answer, result)
        number += 1
    answer.seconds = perf_counter() - start
    answer.print()


def is_to_go_on(answer: Answer, spent_s: float, request: Request) -> bool:
    """DPOR is through after a few schedules, and then starts over."""
    return spent_s < request.seconds and answer.failure is None and answer.note is None


def explore_once(request: Request, seed: int, left_s: float) -> Any:
    workload = WORKLOADS[request.workload]
    limit_run_s = RUN_LIMIT_S if request.workload == "compute" else SMALL_RUN_LIMIT_S
    options: dict[str, Any] = {}
    if request.strategy == "random":
        options.update(seed=seed, max_attempts=1_000_000)
        if request.workload == "compute":
            options.update(max_ops=LONG_RUN_OPERATIONS)
    return frontrun.explore(
        setup=workload.setup,
        workers=workload.workers,
        invariant=workload.check,
        strategy=request.strategy,
        detect_io=False,
        reproduce_on_failure=0,
        timeout_per_run=limit_run_s,
        deadlock_timeout=limit_run_s,
        total_timeout=left_s,
        **options,
    )


def keep(answer: Answer, result: Any) -> None:
    answer.schedules += result.num_explored
    if result.property_holds is False:
        answer.failure = str(result.explanation).splitlines()[0]
    elif result.property_holds is None and result.num_explored:
        answer.note = str(result.inconclusive_reason)


if __name__ == "__main__":
    main()
