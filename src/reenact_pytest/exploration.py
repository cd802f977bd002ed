"""What becomes of one test: the search, or the replay of a saved failure, and the reports of it.

Called by `explorer.py`, which tells pytest. The schedule that failed has the say; of one that was
given up in the middle, nothing but the failure is true.
"""

from __future__ import annotations

import time
from typing import Any

import pytest
from _pytest.runner import CallInfo

from reenact.explore import deviations
from reenact.explore.search import Found, Limits, Search
from reenact.findings import Failure
from reenact.strategies.searching import COMPLETE, DEADLOCK, LIMIT, Plan
from reenact_pytest import describe, reports
from reenact_pytest.artefact import Artefact
from reenact_pytest.options import Options
from reenact_pytest.schedules import Phase, Played, Schedules, Stuck, TimedOut, is_time_limit


class Exploration:
    """What becomes of one test."""

    def __init__(self, item: pytest.Item, schedules: Schedules, chosen: Options) -> None:
        self.item = item
        self.schedules = schedules
        self.chosen = chosen
        self.runs = 0  # of a replay

    def explore(self) -> Played:
        try:
            return self._explore()
        except TimedOut:
            return self._timed_out()
        except pytest.fail.Exception as error:  # between two schedules, or it would be TimedOut
            if not is_time_limit(error):
                raise
            return self._timed_out()
        except Stuck as error:
            played = self.schedules.first
            assert played is not None
            if not played.is_skipped:
                reports.make_inconclusive(reports.main_report(played), [str(error)])
            return played

    def _explore(self) -> Played:
        first = self.schedules.run_first()
        ran = first.ran
        assert ran is not None
        if ran.seen.end not in (COMPLETE, LIMIT):
            return self._failed_at_once(first)
        is_given_up = ran.seen.end == LIMIT  # what its reports say then is of our making
        if is_given_up:
            first.others.clear()
        elif first.failure() is not None or first.is_skipped:
            return first
        if ran.seen.length == 0 and ran.threads == 0 and ran.seen.end == COMPLETE:
            if ran.uncontrolled:
                reports.make_inconclusive(reports.main_report(first), [ran.uncontrolled])
            else:
                reports.note(reports.main_report(first), status="single")
            return first
        return self._search(first)

    def _search(self, first: Played) -> Played:
        chosen = self.chosen
        search = Search(
            self.schedules, chosen.strategy, chosen.seed, Limits(chosen.runs, chosen.seconds)
        )
        started = time.perf_counter()
        found = search.go()
        played = first
        if found.verdict == "failed":
            a_run_s = (time.perf_counter() - started) / max(1, found.coverage.runs)
            played = self._failed(found, describe.budget(a_run_s, chosen.seconds))
        elif found.verdict == "inconclusive":
            self._make_sure_of_reports(first)
            reports.make_inconclusive(reports.main_report(first), found.reasons)
        else:
            reports.note(reports.main_report(first), status="explored")
        reports.note(
            reports.main_report(played),
            schedules=found.coverage.runs,
            behaviours=found.coverage.behaviours,
            exhausted=found.coverage.exhausted,
            ignored=sorted(self.schedules.settings.ignored),
            lost=list(self.schedules.lost),
        )
        return played

    def _failed(self, found: Found, budget: int) -> Played:
        failure = found.failure
        played = self.schedules.failed
        assert failure is not None and played is not None
        ran = played.ran
        assert ran is not None
        steps = ran.seen.steps()
        story, text = describe.describe(found, self.schedules, steps, budget)
        switches = found.switches
        if story.switches and story.switches != switches:
            again = self.schedules.run(Plan(switches=story.switches, strategy=found.strategy))
            if again.failure is not None and again.failure.is_like(failure):
                switches, failure, played = story.switches, again.failure, self.schedules.failed
                assert played is not None
        path = self._save(failure, switches, story.schedule)
        return self._with_failure(played, failure, self._section(text, path), path)

    def _failed_at_once(self, first: Played) -> Played:
        """A deadlock without any preemption."""
        ran = first.ran
        assert ran is not None and ran.failure is not None
        path = self._save(ran.failure, deviations.of(ran.seen.steps()), "")
        text = self._section("It fails in the schedule without preemptions.", path)
        return self._with_failure(first, ran.failure, text, path)

    def _save(self, failure: Failure, switches: Any, schedule: str) -> str:
        settings = self.schedules.settings
        kept = Artefact(
            self.item.nodeid,
            settings.points,
            switches,
            failure,
            tuple(sorted(settings.ignored)),
            settings.instrument,
            schedule,
            settings.patience_s,
        )
        root = self.item.config.rootpath
        try:
            path = kept.save(root)
        except OSError as error:
            return f"(not saved: {error})"
        try:
            return str(path.relative_to(self.item.config.invocation_params.dir))
        except ValueError:
            return str(path)

    def _section(self, text: str, path: str) -> str:
        return f"{text}\nReplay it with: pytest --reenact-replay {path}"

    def _with_failure(self, played: Played, failure: Failure, text: str, path: str) -> Played:
        if _was_given_up(played) or played.failure() is None:
            self._make_sure_of_reports(played)
            _put_call(played, reports.of_failure(self.item, failure))
        report = reports.main_report(played)
        for phase in played.phases:
            if phase.report.failed or hasattr(phase.report, "wasxfail"):
                report = phase.report
                break
        report.sections.append(("reenact", text))
        reports.note(
            reports.main_report(played), status="failed", artefact=path, summary=failure.summary
        )
        return played

    def _make_sure_of_reports(self, played: Played) -> None:
        """A run that was given up has no true reports: what else there is comes from the first."""
        first = self.schedules.first
        base = first.phases if first is not None else []
        for phase in base if base is not played.phases else []:
            if played.of(phase.report.when) is None:
                played.phases.append(phase)
        for phase in played.phases if _was_given_up(played) else []:
            if phase.report.when != "call" and not phase.report.passed:
                phase.call = CallInfo.from_call(lambda: None, phase.report.when)
                phase.report.outcome, phase.report.longrepr = "passed", None

    def _timed_out(self) -> Played:
        text = (
            "The time limit struck while schedules were explored; it is for all of them together.\n"
            "Raise it, or lower --reenact-runs or --reenact-seconds."
        )
        played = self.schedules.failed or self.schedules.now
        failure = played.failure() or Failure("exception", "Failed: the time limit struck")
        return self._with_failure(played, failure, text, "")

    # ---- replaying ----

    def replay(self, saved: Artefact) -> Played:
        played = self._play(saved)
        if not self._is_same(played, saved):  # caches may have been cold, and are warm now
            played = self._play(saved)
        ran = played.ran
        assert ran is not None
        if ran.failure is None:
            self._make_sure_of_reports(played)
            reason = (
                "the saved failure did not come again: the bug is gone, or the schedule "
                "no longer fits the program. Explore anew with --reenact"
            )
            reports.make_inconclusive(reports.main_report(played), [reason])
            return played
        text = "It failed as it had been saved."
        if not self._is_same(played, saved):
            text = f"It failed, but not as it had been saved: {saved.failure.summary}"
        return self._with_failure(played, ran.failure, text, "")

    def _play(self, saved: Artefact) -> Played:
        self.runs += 1
        ran = self.schedules.run(Plan(switches=saved.switches, strategy="replay"))
        played = self.schedules.now
        played.ran = ran
        return played

    def _is_same(self, played: Played, saved: Artefact) -> bool:
        assert played.ran is not None
        failure = played.ran.failure
        return failure is not None and failure.is_like(saved.failure)


def _was_given_up(played: Played) -> bool:
    """A plan that was of no more use is no reason: such a run goes on to its end."""
    return played.ran is not None and played.ran.seen.end in (DEADLOCK, LIMIT)


def _put_call(played: Played, report: pytest.TestReport) -> None:
    """In the place of the call report that there is, if any."""
    call: Any = CallInfo.from_call(lambda: None, "call")
    phase = played.of("call")
    if phase is not None:
        phase.call, phase.report = call, report
        return
    played.phases.insert(1, Phase(call, report))
