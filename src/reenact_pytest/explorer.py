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

from reenact import _core
from reenact.explore import function, instrumented
from reenact.explore import item as gate
from reenact.explore.pinned import pinned
from reenact.explore.runs import Settings
from reenact_pytest import artefact, options, reports, rewriting
from reenact_pytest.artefact import Artefact
from reenact_pytest.exploration import Exploration
from reenact_pytest.journey import Journey
from reenact_pytest.options import Options
from reenact_pytest.schedules import Fixtures, Phase, Played, Schedules, count_failed_subtests

_KEY = pytest.StashKey[bool]()
_IS_RECORDED = pytest.StashKey[bool]()
_JOURNEY = pytest.StashKey[Journey]()


def prepare(config: pytest.Config, given: Any) -> None:
    """Patch the interpreter, open the gate, and see that code gets points; once in a session."""
    if config.stash.get(_KEY, False):
        return
    config.stash[_KEY] = True
    config.stash[_JOURNEY] = Journey(config)
    path = given.reenact_replay
    config.stash[_IS_RECORDED] = _core.is_active()
    if config.stash[_IS_RECORDED]:  # see recorded.py
        instrumented.adopt()
    else:
        function.prepare(artefact.load(path).settings if path else options.settings(given))
        gate.open_gate()
    rewriting.install(config)


def refuse_recording(config: pytest.Config) -> None:
    if config.stash[_IS_RECORDED]:
        raise pytest.UsageError(
            "this session is recorded, and cannot explore. To record a saved failure, "
            "use --reenact-replay PATH --pdb"
        )


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
            self.settings = self.saved.settings
            if config.args_source != config.ArgsSource.ARGS:
                config.args = [str(config.rootpath / self.saved.test.partition("::")[0])]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
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
        session = Exploration(item, schedules, chosen)
        with pinned(_worker()):
            played = session.explore() if self.saved is None else self._replay(session, self.saved)
        reports.main_report(played).duration = time.perf_counter() - started
        if schedules.runner.leaves_threads:
            reports.note(reports.main_report(played), leaves=True)
        self._tell(item, nextitem, played)

    def _replay(self, session: Exploration, saved: Artefact) -> Played:
        journey = self.config.stash[_JOURNEY]
        with journey.noting():
            played = session.replay(saved)
        journey.is_warm = session.runs > 1
        return played

    def _settings(self, item: pytest.Item, chosen: Options) -> Settings:
        saved = self.saved
        settings = self.settings
        if chosen.races if saved is None else saved.failure.is_found_by_looking:
            settings = self._with_races or self._look_for_races(item.nodeid)
        return settings if saved is not None else replace(settings, patience_s=chosen.patience)

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
            self._interact(item, phase)

    def _interact(self, item: pytest.Item, phase: Phase) -> None:
        """With somebody who wants to look into a failure: also into one that is no exception."""
        journey = self.config.stash[_JOURNEY]
        if phase.report.failed and journey.is_wanted and journey.open_debugger(phase.report):
            self.config.pluginmanager.unregister(name="pdbinvoke")
        if check_interactive_exception(phase.call, phase.report):
            item.ihook.pytest_exception_interact(node=item, call=phase.call, report=phase.report)

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
