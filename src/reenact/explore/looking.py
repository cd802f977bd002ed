"""`reenact.races(function)`: findings of one run of a function, or of several schedules of it.

Unlike a search for failures it goes on to the last run, whatever is found: what all runs together
have seen is returned, each finding once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reenact import strategies
from reenact.analysis.build import order
from reenact.analysis.findings import Finding, Race
from reenact.analysis.report import Report, Verdict
from reenact.analysis.sources import Sources
from reenact.analysis.suppress import Suppressed
from reenact.errors import UsageError
from reenact.explore import called
from reenact.explore.function import Function
from reenact.explore.raced import harm, judge_of, told
from reenact.explore.runs import PATIENCE_S, STEP_LIMIT, Ran, Settings
from reenact.strategies.searching import COMPLETE


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found and nobody has let be, errors first; a collection of them.

    `verdict` is "found" if there is an error among them, "inconclusive" if there is none and
    `reasons` say what was out of control, else "none". As a text it is the report.
    """

    runs: int
    report: Report

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.report.findings)

    def __len__(self) -> int:
        return len(self.report.findings)

    def __str__(self) -> str:
        return told(self.report)

    @property
    def verdict(self) -> Verdict:
        return self.report.verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        return self.report.reasons

    @property
    def suppressed(self) -> tuple[Suppressed, ...]:
        """Findings that somebody has let be, with how and why."""
        return self.report.suppressed

    def as_dict(self) -> dict[str, Any]:
        """The form of `reenact races --json`; see docs/reference/races.md."""
        return {**self.report.as_dict(), "runs": self.runs}


def races(
    function: Callable[[], object],
    *,
    runs: int = 1,
    seconds: float | None = None,
    strategy: str = "auto",
    seed: int = 0,
    instrument: tuple[str, ...] | list[str] = (),
    baseline: str | os.PathLike[str] | None = None,
    step_limit: int = STEP_LIMIT,
    patience: float = PATIENCE_S,
    real_clock: bool = False,
) -> Findings:
    """Call `function`, and say what races in it, and which locks are taken in a cycle.

    One run, in the default order of threads, tells of all accesses that it makes; more `runs` make
    others. It is called in this process, and must build what it uses. What it raises, in whatever
    thread, is no finding: it is among the reasons why there may be more.
    """
    if runs < 1:
        raise UsageError(f"runs is {runs}", advice="Give at least 1.")
    judge = judge_of(("races",), "accesses", baseline, Path.cwd())
    assert judge is not None
    gathered = _Gathered(Sources(judge.root))
    if called.is_loading:
        gathered.reasons["a run of another search loads this program"] = None
        return gathered.findings()
    settings = Settings(
        "accesses", tuple(instrument), step_limit, patience, real_clock, races=judge
    )
    searcher = strategies.searcher(strategy, seed)
    deadline = None if seconds is None else time.monotonic() + seconds
    with Function(function, settings) as runner:
        while gathered.runs < runs and (deadline is None or time.monotonic() < deadline):
            plan = searcher.plan()
            if plan is None:
                break
            ran = runner.run(plan)
            searcher.learn(ran.seen)
            gathered.add(ran, None if ran.raw is None else judge.report(ran.raw, _is_whole(ran)))
    return gathered.findings()


def _is_whole(ran: Ran) -> bool:
    return ran.seen.end == COMPLETE


class _Gathered:
    """What runs have seen so far."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.runs = 0
        self.reasons: dict[str, None] = {}  # in order, each once
        self._found: dict[str, Finding] = {}
        self._suppressed: dict[str, Suppressed] = {}

    def add(self, ran: Ran, report: Report | None) -> None:
        self.runs += 1
        failure = ran.failure
        if failure is not None and not failure.is_found_by_looking:
            self.reasons[f"a run failed: {failure.summary}"] = None
        for reason in (ran.uncontrolled, *(() if report is None else report.reasons)):
            if reason:
                self.reasons[reason] = None
        for finding in () if report is None else report.findings:
            before = self._found.get(finding.key)
            self._found[finding.key] = finding if before is None else _both(before, finding)
        for each in () if report is None else report.suppressed:
            self._suppressed.setdefault(each.finding.key, each)

    def findings(self) -> Findings:
        found = sorted(self._found.values(), key=order)
        if self.runs == 0 and not self.reasons:
            self.reasons["no run was made within the limits"] = None
        report = Report(
            self.sources, tuple(found), tuple(self._suppressed.values()), tuple(self.reasons)
        )
        return Findings(self.runs, report)


def _both(before: Finding, again: Finding) -> Finding:
    """The one that matters more, with the count of both."""
    if not isinstance(before, Race) or not isinstance(again, Race):
        return before
    return replace(min(before, again, key=harm), count=before.count + again.count)
