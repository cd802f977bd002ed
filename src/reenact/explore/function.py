"""Runs of a function, one after the other in this process.

The gate is opened once, and the function called under it as often as the search wants. Threads that
a run leaves behind are ended before the next one begins. What the function changes outside itself
stays changed: it must build what it uses, as a test does.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from reenact import _core
from reenact.engine import detecting
from reenact.explore import instrumented, runs
from reenact.explore.pinned import pinned
from reenact.explore.runs import Ran, Settings, Watch
from reenact.findings import Failure
from reenact.strategies.searching import Plan


def prepare(settings: Settings) -> None:
    """Patch the interpreter and put points into the program's code, as far as it is not done."""
    runs.take_over()
    if settings.races is not None:
        detecting.install()
    if settings.points != "sync":
        instrumented.instrument(settings.instrument, settings.points == "accesses")


class Function:
    """Runs `function` under plans; a context, since the process is under the gate meanwhile."""

    def __init__(
        self, function: Callable[[], object], settings: Settings, worker: int | None = None
    ) -> None:
        self.function = function
        self.settings = settings
        self._pinned = pinned(worker)
        self._random = random.getstate()
        self._threads: frozenset[threading.Thread] = frozenset()
        self._note = ""

    def __enter__(self) -> Function:
        prepare(self.settings)
        if len(sys._current_frames()) > 1:
            self._note = "threads were running before the search began: they are not explored"
        self._pinned.__enter__()
        _core.explore_open(SystemExit)
        self._threads = frozenset(threading.enumerate())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        _core.explore_close()
        self._pinned.__exit__(None, None, None)
        random.setstate(self._random)

    def observed(self, plan: Plan, observe: Callable[[], Callable[[], Any]]) -> tuple[Ran, Any]:
        return runs.observed(self, plan, observe)

    def run(self, plan: Plan) -> Ran:
        watch = Watch(self.settings.ignored, looks=self.settings.races is not None)
        with runs.watching(watch):
            runs.begin(plan, self.settings, watch.on_abort)
            error = self._call(watch)
            is_settled = _core.explore_settle()
            raw = runs.seen_races(watch)
            paths = runs.thread_paths()
            result, has_ended = runs.end()
        failure = runs.verdict(result["reason"], error, watch)
        uncontrolled = result["note"] if result["uncontrolled"] else self._note
        if not is_settled and failure is None:
            uncontrolled = uncontrolled or "a daemon thread was still running at the end"
        if not has_ended:
            uncontrolled = uncontrolled or "a thread of the run could not be ended"
        ran = Ran(
            seen=runs.seen_of(plan, result),
            failure=failure,
            uncontrolled=uncontrolled,
            threads=result["threads"],
            swallowed=tuple(dict.fromkeys(watch.swallowed)),
            paths=paths,
            error=_cause(failure, error, watch),
            raw=raw,
        )
        return runs.judged(ran, self.settings)

    def _call(self, watch: Watch) -> BaseException | None:
        try:
            self.function()
            self._join()
            if self.settings.check is not None:
                self.settings.check()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        return None

    def _join(self) -> None:
        """As Python does before it ends: a failure in such a thread is one of the run."""
        for thread in _core.quietly(runs.non_daemons):
            if thread not in self._threads:
                thread.join()


def _cause(
    failure: Failure | None, error: BaseException | None, watch: Watch
) -> BaseException | None:
    """The exception that the failure is."""
    if failure is None or failure.kind in ("deadlock", "livelock"):
        return None
    if watch.failures and failure is watch.failures[0]:
        return watch.errors[0]
    return error
