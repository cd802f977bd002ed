"""The search: plans runs until one fails, there are no more, or time is up.

Owns the loop, its limits, and the verdict: *failed* with a failure that was seen twice, *passed* if
every run passed and nothing escaped us, else *inconclusive* with the reasons.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from reenact import _core, strategies
from reenact.explore import deviations
from reenact.explore.runs import Ran, Runner
from reenact.findings import Failure
from reenact.strategies.searching import COMPLETE, LIMIT, STALE, Plan, Searcher, Switch

Verdict = Literal["passed", "failed", "inconclusive"]
RUNS = 1000
_LIVELOCK_PATIENCE = 3  # runs over the step limit before the search gives up
_COST_OF_KILLED = 2
_LAST_LOOKS = 6
_OUTSIDE_DECIDES = (
    "the program did something else with the same choices: something outside our control decides"
)


@dataclass(frozen=True, slots=True)
class Limits:
    runs: int = RUNS
    seconds: float | None = None

    def share(self, number: int, workers: int) -> Limits:
        """Of one worker among several that search at once."""
        return Limits((self.runs + workers - 1 - number) // workers, self.seconds)


@dataclass(slots=True)
class Coverage:
    """How much was seen. `behaviours` counts orders of dependent operations; `exhausted` says which
    executions were all seen, "" if some are left."""

    runs: int = 0
    complete: int = 0
    behaviours: int = 0
    exhausted: str = ""
    threads: int = 1
    choices: int = 0  # in the longest run
    seconds: float = 0.0
    by_strategy: dict[str, int] = field(default_factory=dict)


def coverage_fields(coverage: Coverage) -> dict[str, Any]:
    return asdict(coverage)


def total(parts: list[Coverage]) -> Coverage:
    """Of several workers. What behaviours they have in common is not known: the most that one of
    them has seen is what all have seen at least."""
    names = dict.fromkeys(name for part in parts for name in part.by_strategy)
    return Coverage(
        runs=sum(part.runs for part in parts),
        complete=sum(part.complete for part in parts),
        behaviours=max((part.behaviours for part in parts), default=0),
        exhausted=next((part.exhausted for part in parts if part.exhausted), ""),
        threads=max((part.threads for part in parts), default=1),
        choices=max((part.choices for part in parts), default=0),
        seconds=max((part.seconds for part in parts), default=0.0),
        by_strategy={name: sum(part.by_strategy.get(name, 0) for part in parts) for name in names},
    )


@dataclass(slots=True)
class Found:
    """What a search came to; `switches` make the program fail again."""

    verdict: Verdict
    reasons: tuple[str, ...]
    coverage: Coverage
    failure: Failure | None = None
    switches: tuple[Switch, ...] = ()
    strategy: str = ""


class Search:
    """A search under way."""

    def __init__(
        self,
        runner: Runner,
        strategy: str = "auto",
        seed: int = 0,
        limits: Limits | None = None,
        progress: Callable[[Coverage], None] | None = None,
        worker: int = 0,
    ) -> None:
        self.runner = runner
        self.searcher: Searcher = strategies.searcher(strategy, seed, worker)
        self.limits = limits or Limits()
        self.progress = progress
        self.coverage = Coverage()
        self.reasons: dict[str, None] = {}  # in order, each once
        self._seen: set[int] = set()
        self._over_limit = 0
        self._stale = 0
        self._started = time.monotonic()
        self._runs_before = 0
        self._seconds_before = 0.0

    def state(self) -> dict[str, Any]:
        """All that another process needs to go on from here, fit for JSON."""
        return {
            "searcher": self.searcher.state(),
            "coverage": coverage_fields(self.coverage),
            "reasons": list(self.reasons),
            "seen": sorted(self._seen),
            "racy": _core.explore_racy(),
            "over_limit": self._over_limit,
            "stale": self._stale,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another search stopped; the limits count from here."""
        _core.explore_set_racy(state["racy"])
        self.searcher.restore(state["searcher"])
        self.coverage = Coverage(**state["coverage"])
        self.reasons = dict.fromkeys(state["reasons"])
        self._seen = set(state["seen"])
        self._over_limit, self._stale = state["over_limit"], state["stale"]
        self._runs_before = self.coverage.runs
        self._seconds_before = self.coverage.seconds

    def go(self) -> Found:
        while (plan := self._next_plan()) is not None:
            ran = self.runner.run(plan)
            self._count(ran)
            if ran.failure is not None:
                found = self._judge(ran)
                if found is not None:
                    return found
            if self.progress is not None:
                self.progress(self.coverage)
        return self._conclude()

    def _next_plan(self) -> Plan | None:
        spent = time.monotonic() - self._started
        self.coverage.seconds = self._seconds_before + spent
        limits = self.limits
        runs = self.coverage.runs - self._runs_before
        if runs >= limits.runs or self._over_limit >= _LIVELOCK_PATIENCE:
            return None
        if limits.seconds is not None and spent >= limits.seconds:
            return None
        return self.searcher.plan()

    def _count(self, ran: Ran) -> None:
        coverage = self.coverage
        coverage.runs += 1
        coverage.complete += ran.seen.end == COMPLETE
        coverage.threads = max(coverage.threads, ran.threads + 1)
        coverage.choices = max(coverage.choices, ran.seen.length)
        name = ran.plan.strategy
        coverage.by_strategy[name] = coverage.by_strategy.get(name, 0) + 1
        self._seen.add(ran.seen.fingerprint)
        coverage.behaviours = len(self._seen)
        if ran.uncontrolled:
            self.reasons[ran.uncontrolled] = None
        for swallowed in ran.swallowed:
            self.reasons[f"an exception was never looked at: {swallowed}"] = None
        if ran.seen.end == STALE:
            self._stale += 1
        if ran.seen.end == LIMIT:  # one that had to be killed has taken far longer
            self._over_limit += _COST_OF_KILLED if ran.failure is None else 1
        if ran.failure is None or ran.seen.end == LIMIT:
            self.searcher.learn(ran.seen)

    def _judge(self, ran: Ran) -> Found | None:
        """A failure, if it comes again with the same choices."""
        assert ran.failure is not None
        if ran.seen.end == LIMIT and self.coverage.complete == 0:
            return None
        switches = deviations.of(ran.seen.steps())
        again = self.runner.run(Plan(switches=switches, strategy=ran.plan.strategy))
        if again.failure is None or not again.failure.is_like(ran.failure):
            self.reasons[
                "a run failed and did not fail again with the same choices "
                f"({ran.failure.summary}): something outside our control decides"
            ] = None
            if not self._fails_again(ran):
                self.searcher.learn(ran.seen)
                return None
        return Found(
            "failed",
            tuple(self.reasons),
            self.coverage,
            ran.failure,
            switches,
            ran.plan.strategy,
        )

    def _fails_again(self, ran: Ran) -> bool:
        """With the plan itself, which says all that we decide."""
        again = self.runner.run(ran.plan)
        return again.failure is not None and again.failure.is_like(ran.failure)

    def _is_steady(self) -> bool:
        """Does the program do the same with the same choices? If not, to have seen all executions
        means nothing: they were those of one whim of the outside."""
        if set(self.coverage.by_strategy) == {"queue"}:  # one run is all that was asked for
            return True
        left = self.limits.runs - (self.coverage.runs - self._runs_before)
        ran = [self.runner.run(Plan()) for _ in range(min(left, _LAST_LOOKS))]
        ways = {(each.seen.fingerprint, each.seen.length) for each in ran}
        return len(ways) <= 1 and all(each.failure is None for each in ran)

    def _conclude(self) -> Found:
        coverage = self.coverage
        coverage.seconds = self._seconds_before + time.monotonic() - self._started
        if coverage.runs == 0:
            self.reasons["no run was made within the limits"] = None
        elif coverage.complete == 0 and not self.reasons:
            self.reasons["no run came to its end within the step limit"] = None
        elif self._over_limit and not self.reasons:
            self.reasons["a run came to no end within the step limit"] = None
        if self._stale:
            self.reasons[_OUTSIDE_DECIDES] = None
        if not self.reasons and self.searcher.exhausted:  # else nobody knows what was seen
            if self._is_steady():
                coverage.exhausted = self.searcher.exhausted
            else:
                self.reasons[_OUTSIDE_DECIDES] = None
        verdict: Verdict = "inconclusive" if self.reasons else "passed"
        return Found(verdict, tuple(self.reasons), coverage)
