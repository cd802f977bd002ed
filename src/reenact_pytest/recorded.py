"""A session of pytest that is itself recorded: the test of a saved failure runs in it, as it failed.

Run as `python -m reenact_pytest.recorded TERMS ARGS...` under the gate, by `travel.py`. Exits with 1
if the test has failed as it had been saved, and with 7 if not; what ends the whole process, as a
deadlock does, has the exit code that it has in any recording. Everything here happens in a replay
of the recording as well.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import pytest

from reenact.engine import following
from reenact.explore import runs
from reenact.explore.item import Item
from reenact.explore.runs import Ran, Settings, Watch
from reenact.strategies.searching import COMPLETE, Plan, Seen
from reenact_pytest.explorer import Explorer
from reenact_pytest.options import Options
from reenact_pytest.schedules import Schedules

FAILED_AGAIN, DID_NOT = 1, 7


@dataclass(frozen=True, slots=True)
class Terms:
    """What the session has to have in common with the one that replayed the failure: where modules
    are found, and which of them the test finds loaded."""

    path: list[str]
    loaded: list[str]

    def text(self) -> str:
        return json.dumps([self.path, self.loaded])

    @classmethod
    def parse(cls, text: str) -> Terms:
        return cls(*json.loads(text))


class RecordedItem(Item):
    """Runs the test once, and leaves the run open: what comes next is of no interest."""

    def run(self, plan: Plan) -> Ran:
        self._before = frozenset(threading.enumerate())
        watch = Watch(self.settings.ignored)
        self.thread_errors = watch.errors
        with runs.watching(watch):
            following.begin(plan, self.settings.terms)
            own = self.body()
            for thread in self._left():
                thread.join()
        failure = own or runs.verdict(COMPLETE, None, watch)
        seen = Seen(plan, COMPLETE, 0, 0, 0, 0, is_timed=False, steps=list)
        return Ran(seen, failure, uncontrolled="", threads=0)


class Recorded(Explorer):
    """The hooks of such a session, but for those that explore."""

    def __init__(self, config: pytest.Config, loaded: list[str]) -> None:
        super().__init__(config)
        self.loaded = loaded
        self.has_failed_again = False

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        yield
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
        for name in self.loaded:
            with suppress(Exception):  # the test will meet it, if it matters
                import_module(name)
        ran = schedules.run(Plan(switches=saved.switches, strategy="replay"))
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


class _Configuring:
    """Puts the hooks in, and takes what a person would be asked by out."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.usepdb = config.option.trace = False
        config.pluginmanager.register(Recorded(config, self.terms.loaded), "reenact-explorer")


def main() -> int:
    terms = Terms.parse(sys.argv[1])
    sys.path[:] = terms.path
    sys.argv[:] = sys.argv[:1] + sys.argv[2:]
    following.prepare()
    return int(pytest.main(sys.argv[1:], plugins=[_Configuring(terms)]))


if __name__ == "__main__":
    sys.exit(main())
