"""A test as the search sees it: set up, called and torn down afresh in every run.

Owns what pytest is asked to do inside of a run and around it. Fixtures of wider scope than a
function are set up before the first run, and outlive the last; those of function scope live in a
run. Reports are kept, and logged by `explorer.py` once it is clear which schedule's they shall be.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import pytest
from _pytest.outcomes import Exit
from _pytest.runner import CallInfo

from reenact.explore import runs
from reenact.explore.item import Item
from reenact.explore.runs import Ran, Settings
from reenact.findings import Failure
from reenact.strategies.searching import FIRST, Plan

When = Literal["setup", "call", "teardown"]
PLAIN = Plan(FIRST, strategy="queue")  # nobody is preempted


class TimedOut(BaseException):
    """pytest-timeout struck: its limit is for all schedules of a test together."""


class Stuck(BaseException):
    """A thread of the test could not be ended: more schedules would only leave more of them."""


@dataclass(slots=True)
class Phase:
    call: CallInfo[None]
    report: pytest.TestReport


@dataclass(slots=True)
class Played:
    """What pytest made of one run."""

    phases: list[Phase] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)  # reports of subtests
    ran: Ran | None = None

    def of(self, when: When) -> Phase | None:
        return next((each for each in self.phases if each.report.when == when), None)

    @property
    def is_skipped(self) -> bool:
        return any(each.report.skipped for each in self.phases)

    def failure(self) -> Failure | None:
        for phase in self.phases:
            if phase.report.failed or hasattr(phase.report, "wasxfail"):
                return _failure_of(phase)
        for report in self.others:
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                return Failure("assertion", f"a subtest failed: {getattr(crash, 'message', '')}")
        return None


def _failure_of(phase: Phase) -> Failure | None:
    error = None if phase.call.excinfo is None else phase.call.excinfo.value
    if error is None:
        if phase.report.passed:  # it was expected to fail, and did not
            return None
        return Failure("assertion", (phase.report.longreprtext or "failed").splitlines()[0])
    return runs.failure_of(error) or Failure("exit", "SystemExit: the test ends the program")


class Schedules:
    """Runs one test under plans. Fixtures of wider scope must have been set up."""

    def __init__(
        self,
        item: pytest.Item,
        settings: Settings,
        fixtures: Fixtures,
        runner: type[Item] = Item,
    ) -> None:
        self.item = item
        self.fixtures = fixtures
        self.runner = runner(self.body, settings)
        self.now = Played()
        self.failed: Played | None = None  # the latest that did
        self.first: Played | None = None
        self.lost: tuple[str, ...] = ()  # exceptions that nobody looks at in the first run
        self._kept: Ran | None = None  # of the first run, for the search to begin with
        self._base = _Belongings(item)

    @property
    def settings(self) -> Settings:
        return self.runner.settings

    def run_first(self) -> Played:
        """The run that is closest to what plain pytest does."""
        self.runner.listener = threading.excepthook
        self.first = played = self._play(PLAIN, nullcontext())
        self.runner.listener = None
        ran = self._kept = played.ran
        assert ran is not None
        if ran.failure is not None and ran.seen.end == 0 and played.failure() is None:
            self.runner.ignore(self.runner.thread_errors)  # the test is used to it
            ran.failure = ran.race
        self.lost, ran.swallowed = ran.swallowed, ()  # so it is to these
        return played

    def run(self, plan: Plan) -> Ran:
        """For the search."""
        if plan == PLAIN and self._kept is not None:
            ran, self._kept = self._kept, None
            return ran
        self._kept = None
        played = self._play(plan, warnings.catch_warnings(record=True))
        assert played.ran is not None
        ran = played.ran
        ran.swallowed = tuple(each for each in ran.swallowed if each not in self.lost)
        if ran.failure is not None:
            self.failed = played
        return ran

    def observed(self, plan: Plan, observe: Callable[[], Callable[[], Any]]) -> tuple[Ran, Any]:
        return runs.observed(self, plan, observe)

    @contextmanager
    def renewed(self) -> Iterator[Played]:
        """For one run: whatever earlier ones did to the item is undone."""
        self.fixtures.set_up_late(self.item)
        self._base.restore()
        self.now = played = Played()
        with _Held(self.item, played.others).holding():
            try:
                yield played
            finally:
                self.fixtures.in_run = False
                _tear_down(self.item)

    def _play(self, plan: Plan, around: Any) -> Played:
        with self.renewed() as played, around:
            try:
                ran = self.runner.run(plan)
            except pytest.fail.Exception as error:
                if is_time_limit(error):
                    raise TimedOut from None
                raise
        if any(
            each.call.excinfo and is_time_limit(each.call.excinfo.value) for each in played.phases
        ):
            raise TimedOut
        if played.is_skipped and ran.failure is None and self.first is not played:
            ran.uncontrolled = ran.uncontrolled or "the test skipped itself in a schedule"
        played.ran = ran
        if self.runner.has_stuck_thread and ran.failure is None:
            self.first = self.first or played
            raise Stuck(ran.uncontrolled)
        return played

    def body(self) -> Failure | None:
        played, item = self.now, self.item
        self.fixtures.in_run = True
        try:
            setup = self._phase("setup")
            if setup.report.passed:
                self._phase("call")
            _guard_finalizers(item)
            self._phase("teardown", nextitem=item.parent)
        finally:
            self.fixtures.in_run = False
        self.fixtures.give_up_those_with_threads()
        return played.failure()

    def _phase(self, when: When, **arguments: object) -> Phase:
        hook = getattr(self.item.ihook, f"pytest_runtest_{when}")
        call = CallInfo.from_call(
            lambda: hook(item=self.item, **arguments), when, reraise=(Exit, KeyboardInterrupt)
        )
        report = self.item.ihook.pytest_runtest_makereport(item=self.item, call=call)
        phase = Phase(call, report)
        self.now.phases.append(phase)
        return phase


def is_time_limit(error: BaseException) -> bool:
    return isinstance(error, pytest.fail.Exception) and str(error.msg).startswith("Timeout")


# ---- the item between runs ----


class _Belongings:
    """What a test adds to its item, which the next run must not find."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        lists: tuple[Any, ...] = (item._report_sections, item.user_properties, item.own_markers)
        self.lists = [(each, list(each)) for each in lists]

    def restore(self) -> None:
        for each, before in self.lists:
            each[:] = before
        if hasattr(self.item, "_request"):
            renew_request(self.item)
        self.item.__dict__.pop("_excinfo", None)  # of unittest
        count_failed_subtests(self.item, 0)


def renew_request(item: Any) -> None:
    item._initrequest()


def count_failed_subtests(item: pytest.Item, count: int) -> None:
    """pytest counts them for as long as the session lasts."""
    try:
        from _pytest.subtests import failed_subtests_key
    except ImportError:  # before pytest 9
        return
    counts: Any = item.config.stash.get(failed_subtests_key, None)
    if counts is not None:
        counts[getattr(item, "id", item.nodeid)] = count


class _Held:
    """Reports that are logged in the midst of a test, by subtests, are kept instead."""

    def __init__(self, item: pytest.Item, reports: list[Any]) -> None:
        self.relay = vars(item.ihook)
        self.reports = reports

    @contextmanager
    def holding(self) -> Iterator[None]:
        name = "pytest_runtest_logreport"
        before = self.relay.get(name)
        self.relay[name] = lambda report: self.reports.append(report)
        try:
            yield
        finally:
            if before is None:
                del self.relay[name]
            else:
                self.relay[name] = before


def _guard_finalizers(item: pytest.Item) -> None:
    """pytest would lose those that are left when one raises what ends a run that was given up."""
    stack = item.session._setupstate.stack
    if item in stack:
        finalizers, _ = stack[item]
        finalizers[:] = [_guarded(each) for each in finalizers]


def _guarded(finalizer: Callable[[], object]) -> Callable[[], object]:
    def finalize() -> None:
        try:
            finalizer()
        except SystemExit as error:
            raise RuntimeError("SystemExit in the teardown of a fixture") from error

    return finalize


def _tear_down(item: Any) -> None:
    """What a run that was given up has left."""
    state = item.session._setupstate
    if item in state.stack:
        CallInfo.from_call(lambda: state.teardown_exact(item.parent), "teardown")
    if hasattr(item, "_request"):
        item._request = False
        item.funcargs = None


# ---- fixtures of wider scope ----


@contextmanager
def _active(item: pytest.Item) -> Iterator[None]:
    """pytest hands out fixtures to items alone that are set up, or about to be."""
    stack = item.session._setupstate.stack
    stack[item] = ([], None)
    try:
        yield
    finally:
        del stack[item]


class Fixtures:
    """Those that are shared by several tests, and so by several runs."""

    def __init__(self) -> None:
        self.in_run = False
        self._new: list[tuple[Any, Any]] = []  # set up in this run
        self._late: list[str] = []  # to be set up before the next one
        self._threads: frozenset[threading.Thread] = frozenset()

    def note(self, fixture: Any, request: Any) -> None:
        if self.in_run and fixture.scope != "function":
            self._new.append((fixture, request))

    def set_up(self, item: Any) -> None:
        """Raises what they raise; pytest will raise it again as it sets up the item itself."""
        self._late = []
        item.session._setupstate.setup(item.parent)
        if not hasattr(item, "_request"):
            return
        known = item._fixtureinfo.name2fixturedefs
        names = [
            name
            for name in item.fixturenames
            if name in known and known[name][-1].scope != "function"
        ]
        with _active(item):
            for name in names:
                item._request.getfixturevalue(name)
        self._threads = frozenset(threading.enumerate())

    def give_up_those_with_threads(self) -> None:
        """A fixture that a test asked for by itself, and that started threads, belongs outside."""
        new, self._new = self._new, []
        if new and any(each not in self._threads for each in threading.enumerate()):
            for fixture, request in reversed(new):
                self._late.insert(0, fixture.argname)
                fixture.finish(request)

    def set_up_late(self, item: Any) -> None:
        late, self._late = self._late, []
        if late:
            renew_request(item)
            with _active(item):
                for name in late:
                    ask = partial(item._request.getfixturevalue, name)
                    CallInfo.from_call(ask, "setup")  # if it fails, it will in the test
        self._threads = frozenset(threading.enumerate())
