"""Explores a workload with interleave-test; arguments and output as driver.py says.

Strategies: `random`, `pct` and `dfs`; with `/line` added, threads switch between lines only, which
is faster and misses what happens within a line.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import interleave_test
import workloads
from driver import Answer, Request, limit_memory, read_request

RUN_LIMIT_S = 120.0
SMALL_RUN_LIMIT_S = 10.0  # where a small program hangs, we want to hear of it
STRATEGIES = {
    "random": interleave_test.RandomStrategy,
    "pct": interleave_test.PCTStrategy,
    "dfs": interleave_test.DFSStrategy,
}


def main() -> None:
    request = read_request()
    limit_memory()
    answer = Answer()
    start = perf_counter()
    while answer.failure is answer.note is None and perf_counter() - start < request.seconds:
        keep(answer, explore_until(request, start + request.seconds))
    answer.seconds = perf_counter() - start
    answer.print()


def explore_until(request: Request, deadline: float) -> Any:
    """One search; `dfs` may be through with it before the deadline."""
    name, _, granularity = request.strategy.partition("/")
    return interleave_test.explore(
        getattr(workloads, request.workload),
        strategy=limited(STRATEGIES[name], deadline),
        granularity=granularity or "opcode",
        iterations=1_000_000_000,
        seed=request.seed,
        timeout=run_limit_s(request),
        raise_on_failure=False,
    )


def run_limit_s(request: Request) -> float:
    """For one schedule."""
    return RUN_LIMIT_S if request.workload == "compute" else SMALL_RUN_LIMIT_S


def limited(kind: type[Any], deadline: float) -> Any:
    """A strategy that has no more schedules after the deadline: the tool knows no such limit."""

    class Limited(kind):  # type: ignore[misc]
        def more(self) -> bool:
            return super().more() is not False and perf_counter() < deadline

    return Limited()


def keep(answer: Answer, result: Any) -> None:
    answer.schedules += result.schedules_run
    if result.failure is None:
        return
    text = result.failure.format().splitlines()[0]
    if result.failure.kind == "hang" or is_its_own(result.failure.exception):
        answer.note = text
    else:
        answer.failure = text


def is_its_own(error: BaseException | None) -> bool:
    """The tool lost its way, which says nothing of the program."""
    return isinstance(error, interleave_test.InterleaveError)


if __name__ == "__main__":
    main()
