"""Runs of a test, in a process whose gate stays open from one test to the next.

Owns when the gate is open for a test session, what is done about threads that a test leaves behind,
and the verdict on one run. What a test is, its caller knows: `body` sets it up, calls it, tears it
down, and returns the failure that it saw. `function.py` is the sibling for a mere function.
"""

from __future__ import annotations

import atexit
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from reenact import _core
from reenact.explore import runs
from reenact.explore.leavings import Leavings
from reenact.explore.runs import Ran, Settings, Watch
from reenact.findings import Failure
from reenact.strategies.searching import COMPLETE, REDUNDANT, STALE, Plan

_SHORT_PATIENCE = 2  # once it is known that threads of the test cannot be ended
_AGE_S = 86400.0  # of virtual time, for threads that outlive the test to come to their end


def open_gate() -> None:
    """Threads that exist by now are left alone: they must have no part in any test. A test that was
    ended in the middle could leave behind what others trip over; so none is without need."""
    _core.explore_open(SystemExit)
    _core.explore_finish_runs(True)
    atexit.register(_core.explore_close)


def close_gate() -> None:
    atexit.unregister(_core.explore_close)
    _core.explore_close()


class ItemWatch(Watch):
    """Passes errors of threads on to whoever else wants to hear of them."""

    __slots__ = ("listener",)

    def __init__(
        self, ignored: frozenset[str], looks: bool, listener: Callable[[Any], object] | None
    ) -> None:
        super().__init__(ignored, looks=looks)
        self.listener = listener

    def on_thread_error(self, error: BaseException) -> None:
        super().on_thread_error(error)
        if self.listener is not None and not isinstance(error, SystemExit):
            parts = (type(error), error, error.__traceback__, threading.current_thread())
            self.listener(threading.ExceptHookArgs(parts))


class Item:
    """Runs `body` under plans; the gate must be open."""

    def __init__(self, body: Callable[[], Failure | None], settings: Settings) -> None:
        self.body = body
        self.settings = settings
        self.listener: Callable[[Any], object] | None = None
        self.thread_errors: list[BaseException] = []  # of the latest run
        self.has_stuck_thread = False  # one that could not be ended
        self.leaves_threads = False  # that wait in an outside call, as servers do
        self._leavings = Leavings()
        self._before: frozenset[threading.Thread] = frozenset()

    def ignore(self, errors: list[BaseException]) -> None:
        """Exceptions like these are no failures from now on, if they only end a thread."""
        names = {type(error).__name__ for error in errors}
        self.settings = replace(self.settings, ignored=self.settings.ignored | names)

    def run(self, plan: Plan) -> Ran:
        self._before = frozenset(threading.enumerate())
        self._leavings.restore()
        looks = self.settings.races is not None
        watch = ItemWatch(self.settings.ignored, looks, self.listener)
        self.thread_errors = watch.errors
        with runs.watching(watch):
            runs.begin(plan, self.settings, watch.on_abort)
            try:
                own, strayed, left = self._call()
                is_settled = _core.explore_settle()
                raw = runs.seen_races(watch)
            finally:  # the user may have interrupted us
                paths = runs.thread_paths()
                pools = _core.quietly(_pools, self._before)
                result, has_ended = self._end()
                _renew(pools)
        reason = COMPLETE if _has_finished(result) else result["reason"]
        if strayed is not None and reason == COMPLETE:
            raise strayed
        failure = runs.verdict(reason, None, watch)
        if reason == COMPLETE and own is not None:
            failure = own
        uncontrolled = result["note"] if result["uncontrolled"] else ""
        if failure is None:
            uncontrolled = uncontrolled or _leftovers(left, is_settled)
        self.has_stuck_thread = not has_ended
        self.leaves_threads = self.leaves_threads or result["left"] > 0
        if not has_ended:
            uncontrolled = uncontrolled or "a thread of the test could not be ended"
        ran = Ran(
            seen=runs.seen_of(plan, result),
            failure=failure,
            uncontrolled=uncontrolled,
            threads=result["threads"],
            swallowed=tuple(dict.fromkeys(watch.swallowed)),
            paths=paths,
            raw=raw,
        )
        return runs.judged(ran, self.settings)

    def _call(self) -> tuple[Failure | None, BaseException | None, list[str]]:
        """The failure that the body saw, what escaped it, and threads that do not end."""
        try:
            own = self.body()
            return own, None, self._join()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # that of a run given up may strike anywhere
            return None, error, []

    def _end(self) -> tuple[Any, bool]:
        """The run is over even if we are interrupted while we tidy up."""
        patience = _SHORT_PATIENCE if self.leaves_threads else runs.ENDING_PATIENCE
        try:
            return runs.end(patience, lets_go=True)
        except BaseException:
            with suppress(RuntimeError):  # it may have been over already
                _core.explore_end()
            raise

    def _join(self) -> list[str]:
        """What threads do after the test counts, though the test need not wait for them."""
        _core.explore_settle()
        for thread in self._left():
            thread.join(_AGE_S)
        return [thread.name for thread in self._left()]

    def _left(self) -> list[threading.Thread]:
        threads: list[threading.Thread] = _core.quietly(runs.non_daemons)
        pooled = _pooled()
        return [each for each in threads if each not in self._before and each not in pooled]


def _has_finished(result: dict[str, Any]) -> bool:
    """Though its plan was of no more use at some point."""
    return result["finished"] and result["reason"] in (REDUNDANT, STALE)


def _leftovers(left: list[str], is_settled: bool) -> str:
    if left:
        name = re.sub(r"^Thread-\d+", "Thread", left[0])  # the same reason in all runs
        return f"a thread was still alive after the test: {name}"
    return "" if is_settled else "a daemon thread was still running at the end"


# ---- pools: Python ends their threads itself, so a test may leave them waiting ----


def _pooled() -> Any:
    module = sys.modules.get("concurrent.futures.thread")
    return getattr(module, "_threads_queues", {})


def _pools(before: frozenset[threading.Thread]) -> list[Any]:
    """Executors that outlive the test, and of which threads are about to be ended."""
    found = []
    for thread in list(_pooled()):
        args = getattr(thread, "_args", None) or (None,)
        executor = args[0]() if thread not in before and callable(args[0]) else None
        if executor is not None and executor not in found:
            found.append(executor)
    return found


def _renew(pools: list[Any]) -> None:
    """An executor counts on threads that are no more: let it start new ones."""
    for executor in pools:
        alive = {thread for thread in executor._threads if thread.is_alive()}
        if alive != executor._threads:
            executor._threads = alive
            executor._idle_semaphore = threading.Semaphore(0)
