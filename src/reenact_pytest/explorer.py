"""Runs the tests: each under many schedules, or one of them under the schedule of a saved failure.

Owns the gate of a session, and what pytest is told about a test: exactly one setup, call and
teardown report, those of the schedule that failed, or of the first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

import pytest
from _pytest.outcomes import OutcomeException
from _pytest.runner import CallInfo, check_interactive_exception, runtestprotocol
from _pytest.skipping import evaluate_skip_marks, evaluate_xfail_marks

from reenact.explore import deviations, function
from reenact.explore import item as gate
from reenact.explore.pinned import pinned
from reenact.explore.runs import Settings
from reenact.explore.search import Found, Limits, Search
from reenact.findings import Failure
from reenact.strategies.searching import COMPLETE, DEADLOCK, LIMIT, Plan
from reenact_pytest import artefact, describe, options, reports, rewriting
from reenact_pytest.artefact import Artefact
from reenact_pytest.options import Options
from reenact_pytest.schedules import (
    Fixtures,
    Phase,
    Played,
    Schedules,
    Stuck,
    TimedOut,
    count_failed_subtests,
    is_time_limit,
)

_KEY = pytest.StashKey[bool]()


def prepare(config: pytest.Config, given: Any) -> None:
    """Patch the interpreter, open the gate, and see that code gets points; once in a session."""
    if config.stash.get(_KEY, False):
        return
    config.stash[_KEY] = True
    if given.reenact_replay:
        saved = artefact.load(given.reenact_replay)
        given.reenact_points = saved.points
        given.reenact_instrument = list(saved.instrument)
    function.prepare(options.settings(given))
    gate.open_gate()
    rewriting.install(config)


class Explorer:
    """The hooks."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.options = options.of_session(config.option)
        self.settings = options.settings(config.option)
        self.fixtures = Fixtures()
        self._with_races: Settings | None = None
        if self.options.races:
            self._look_for_races("--reenact-races")
        self.saved: Artefact | None = None
        path = config.option.reenact_replay
        if path:
            self.saved = artefact.load(path)
            if config.args_source != config.ArgsSource.ARGS:
                config.args = [str(config.rootpath / self.saved.test.partition("::")[0])]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        try:
            return (yield)
        finally:
            gate.close_gate()

    def pytest_unconfigure(self) -> None:
        gate.close_gate()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        saved = self.saved
        if saved is None:
            return
        others = [item for item in items if item.nodeid != saved.test]
        items[:] = [item for item in items if item.nodeid == saved.test]
        if not items:
            raise pytest.UsageError(f"--reenact-replay: there is no test {saved.test}")
        self.config.hook.pytest_deselected(items=others)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        self.fixtures.note(fixturedef, request)
        return (yield)

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> Any:
        """A thread that waits would have a part in the schedules; a signal has none."""
        if settings.method != "thread":
            return None
        plugin = self.config.pluginmanager.getplugin("timeout")
        return plugin.pytest_timeout_set_timer(item, settings._replace(method="signal"))

    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        chosen = options.of_item(item, self.options)
        if chosen.skip or self.config.getoption("setuponly", False):
            return None
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        if _is_never_called(item) or not self._set_up(item):
            runtestprotocol(item, nextitem=nextitem)
        else:
            self._explore(item, nextitem, chosen)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _set_up(self, item: pytest.Item) -> bool:
        """Fixtures of wider scope. If one fails, pytest will say so."""
        with self._captured(item, "setup"):
            try:
                self.fixtures.set_up(item)
            except (OutcomeException, Exception):
                return False
        return True

    def _captured(self, item: pytest.Item, when: str) -> AbstractContextManager[None]:
        capture = self.config.pluginmanager.getplugin("capturemanager")
        return nullcontext() if capture is None else capture.item_capture(when, item)

    def _explore(self, item: pytest.Item, nextitem: pytest.Item | None, chosen: Options) -> None:
        started = time.perf_counter()
        schedules = Schedules(item, self._settings(item, chosen), self.fixtures)
        session = _Exploration(self, item, schedules, chosen)
        with pinned(_worker()):
            played = session.replay(self.saved) if self.saved is not None else session.explore()
        reports.main_report(played).duration = time.perf_counter() - started
        if schedules.runner.leaves_threads:
            reports.note(reports.main_report(played), leaves=True)
        self._tell(item, nextitem, played)

    def _settings(self, item: pytest.Item, chosen: Options) -> Settings:
        saved = self.saved
        settings = self.settings
        if chosen.races if saved is None else saved.failure.is_found_by_looking:
            settings = self._with_races or self._look_for_races(item.nodeid)
        return replace(settings, patience_s=chosen.patience if saved is None else saved.patience)

    def _look_for_races(self, who: str) -> Settings:
        """From the first test on that wants it."""
        self._with_races = options.with_races(self.settings, self.config.rootpath, who)
        function.prepare(self._with_races)
        return self._with_races

    def _tell(self, item: pytest.Item, nextitem: pytest.Item | None, played: Played) -> None:
        count_failed_subtests(item, sum(each.failed for each in played.others))
        for phase in played.phases:
            if phase.report.when == "teardown":
                nextitem = self._tear_down(item, nextitem)
            if phase.report.when == "call":
                for report in played.others:
                    item.ihook.pytest_runtest_logreport(report=report)
            item.ihook.pytest_runtest_logreport(report=phase.report)
            if check_interactive_exception(phase.call, phase.report):
                item.ihook.pytest_exception_interact(
                    node=item, call=phase.call, report=phase.report
                )

    def _tear_down(self, item: pytest.Item, nextitem: pytest.Item | None) -> pytest.Item | None:
        """Fixtures of wider scope that the next test does not need."""
        session = item.session
        if session.shouldfail or session.shouldstop:
            nextitem = None
        with self._captured(item, "teardown"):
            call = CallInfo.from_call(
                lambda: session._setupstate.teardown_exact(nextitem),
                "teardown",
                reraise=(KeyboardInterrupt,),
            )
        if call.excinfo is not None:
            report = item.ihook.pytest_runtest_makereport(item=item, call=call)
            item.ihook.pytest_runtest_logreport(report=report)
        return nextitem


def _worker() -> int | None:
    """The number of an xdist worker: each shall have a processor of its own."""
    name = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    return int(name) if name.isdecimal() else None


def _is_never_called(item: pytest.Item) -> bool:
    """Then no fixture is set up, either."""
    try:
        if evaluate_skip_marks(item) is not None:
            return True
        expected = evaluate_xfail_marks(item)
    except (OutcomeException, Exception):  # a bad marker: pytest will say what is wrong
        return True
    return expected is not None and not expected.run


class _Exploration:
    """What becomes of one test."""

    def __init__(
        self, explorer: Explorer, item: pytest.Item, schedules: Schedules, chosen: Options
    ) -> None:
        self.explorer = explorer
        self.item = item
        self.schedules = schedules
        self.chosen = chosen

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
        runner = self.schedules.runner
        runner.settings = replace(runner.settings, ignored=frozenset(saved.ignored))
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
