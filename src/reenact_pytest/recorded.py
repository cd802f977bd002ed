"""A session of pytest that is itself recorded: a test fails in it as it had been saved.

Run as `python -m reenact_pytest.recorded TERMS ARGS...` under the gate, by `travel.py`. Exits with
1 if the test has failed again, and with 7 if not; what ends the whole process, as a deadlock does,
has the exit code that it has in any recording, and a race makes no difference: it is looked for in
a replay. Everything here happens in a replay as well.
"""

from __future__ import annotations

import json
import sys
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pytest

from reenact import _core
from reenact.engine import following
from reenact.explore import runs
from reenact.explore.item import Item
from reenact.explore.runs import Ran, Settings, Watch
from reenact.intercept import loops
from reenact.strategies.searching import AMONG, COMPLETE, Plan, Seen, Switch
from reenact_pytest.explorer import Explorer
from reenact_pytest.options import Options
from reenact_pytest.schedules import PLAIN, Schedules

FAILED_AGAIN, DID_NOT = 1, 7


@dataclass(frozen=True, slots=True)
class Terms:
    """What the session has to have in common with the one that replayed the failure: where modules
    are found, which of them the test finds loaded, the threads that there are (parent and ordinal
    of each), and whether the test has been run before."""

    path: list[str]
    loaded: list[str]
    threads: list[tuple[int, int]]
    is_warm: bool

    def text(self) -> str:
        return json.dumps([self.path, self.loaded, self.threads, self.is_warm])

    @classmethod
    def parse(cls, text: str) -> Terms:
        return cls(*json.loads(text))


class RecordedItem(Item):
    """Runs the test once, and leaves the run open: what comes next is of no interest."""

    def warm_up(self) -> None:
        """A run whose outcome is of no interest: caches are warm afterwards."""
        self._before = frozenset(threading.enumerate())
        with runs.watching(Watch()):
            following.begin(PLAIN, self.settings.terms)
            self.body()
            self._join_all()
            loops.end()
            _core.explore_leave()

    def run(self, plan: Plan) -> Ran:
        self._before = frozenset(threading.enumerate())
        watch = Watch(self.settings.ignored)
        self.thread_errors = watch.errors
        with runs.watching(watch):
            following.begin(plan, self.settings.terms)
            own = self.body()
            self._join_all()
        failure = own or runs.verdict(COMPLETE, None, watch)
        seen = Seen(plan, COMPLETE, 0, 0, 0, 0, is_timed=False, steps=list)
        return Ran(seen, failure, uncontrolled="", threads=0)

    def _join_all(self) -> None:
        for thread in self._left():
            thread.join()


def moved(
    switches: tuple[Switch, ...], before: list[tuple[int, int]], now: list[tuple[int, int]]
) -> tuple[Switch, ...]:
    """Choices of a run that began when other threads had been started before."""
    more = len(now) - len(before)
    elder = _children(now) - _children(before)

    def index(thread: int) -> int:
        return thread + more if thread >= len(before) else thread

    def goal(to: int) -> int:
        if to >= 0:
            return index(to)
        parent, ordinal = ~to >> 16, ~to & 0xFFFF  # one that is to be started yet
        return ~(index(parent) << 16 | ordinal + (0 if parent else elder))

    return tuple(
        each._replace(
            thread=index(each.thread), to=each.to if each.kind == AMONG else goal(each.to)
        )
        for each in switches
    )


def _children(threads: list[tuple[int, int]]) -> int:
    """That the main thread has started."""
    return max((ordinal for parent, ordinal in threads if parent == 0), default=0)


class Recorded(Explorer):
    """The hooks of such a session, but for those that explore."""

    def __init__(self, config: pytest.Config, terms: Terms) -> None:
        super().__init__(config)
        self.terms = terms
        self.has_failed_again = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        yield
        assert self.saved is not None
        if not self.saved.failure.is_found_by_looking:
            session.exitstatus = FAILED_AGAIN if self.has_failed_again else DID_NOT

    def pytest_unconfigure(self) -> None:
        """The gate is not ours."""

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self) -> Generator[None, Any, Any]:
        return (yield from _told())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        return (yield from _told())

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self) -> Generator[None, Any, Any]:
        return (yield from _told())

    def _settings(self, item: pytest.Item, chosen: Options) -> Settings:
        assert self.saved is not None
        return replace(self.saved.settings, stall_s=following.STALL_NS / 1e9)

    def _explore(self, item: pytest.Item, nextitem: pytest.Item | None, chosen: Options) -> None:
        saved = self.saved
        assert saved is not None
        schedules = Schedules(item, self._settings(item, chosen), self.fixtures, RecordedItem)
        _listen_to_unittest(item)
        for name in self.terms.loaded:
            with suppress(Exception):  # the test will meet it, if it matters
                import_module(name)
        if self.terms.is_warm:
            with schedules.renewed(), warnings.catch_warnings(record=True):
                RecordedItem(schedules.body, schedules.settings).warm_up()
        switches = moved(saved.switches, self.terms.threads, _core.explore_threads())
        ran = schedules.run(Plan(switches=switches, strategy="replay"))
        self.has_failed_again = ran.failure is not None and ran.failure.is_like(saved.failure)
        self._tell(item, nextitem, schedules.now)


def _told() -> Generator[None, Any, Any]:
    """An exception is told to the debugger as close to its origin as can be: pytest catches it."""
    try:
        return (yield)
    except pytest.skip.Exception:
        raise
    except BaseException as error:
        following.fail(error)
        raise


def _listen_to_unittest(item: Any) -> None:
    """It catches exceptions itself, and tells the item of them."""

    def telling(tell: Callable[..., None]) -> Callable[..., None]:
        def tell_twice(test: Any, raised: Any, *more: Any) -> None:
            following.fail(raised[1])
            tell(test, raised, *more)

        return tell_twice

    for name in ("addError", "addFailure"):
        if hasattr(item, name):
            setattr(item, name, telling(getattr(item, name)))


class _Configuring:
    """Puts the hooks in, and takes what a person would be asked by out."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.usepdb = config.option.trace = False
        config.pluginmanager.register(Recorded(config, self.terms), "reenact-explorer")


def main() -> int:
    terms = Terms.parse(sys.argv[1])
    sys.path[:] = terms.path
    sys.argv[:] = sys.argv[:1] + sys.argv[2:]
    following.prepare()
    return int(pytest.main(sys.argv[1:], plugins=[_Configuring(terms)]))


if __name__ == "__main__":
    sys.exit(main())
