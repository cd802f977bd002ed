"""Runs of a whole program, each in a process of its own, forked from this one.

This process has everything in it that a run needs, and has not begun the program: a fork is all
that it takes to run it from the start. What the run leaves is in memory that both share.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from reenact import _core
from reenact.engine import detecting
from reenact.explore import runs
from reenact.explore.runs import Ran, Settings, Watch
from reenact.findings import Failure
from reenact.instrument import loader
from reenact.strategies.searching import COMPLETE, LIMIT, Plan

HANG_S = 60.0  # a run that takes longer is stuck in something that we do not control
_TO_END_S = 1.0  # for the threads of a run that was given up
_HANG_FACTOR = 20.0
_SHORTEST_STALL_S, _STALL_FACTOR = 2.0, 5.0  # of a whole run, of which waiting was a part
_HASTY_STALL_S, _HASTY_STALL_FACTOR, _HASTY_HANG_S = 0.3, 1.5, 5.0


class Script:
    """Runs `execute`, which runs the program, in forked processes."""

    def __init__(
        self, execute: Callable[[], object], settings: Settings, hang_s: float = HANG_S
    ) -> None:
        self.execute = execute
        self.settings = settings
        self.hang_s = hang_s
        self.longest_s = 0.0  # of the runs that came to an end
        self.loaded: tuple[str, ...] = ()
        self.is_first = True
        self.is_hasty = False
        self.note = ""
        self.words = os.memfd_create("words")
        if settings.races is not None:
            detecting.install()

    def run(self, plan: Plan) -> Ran:
        return self.observed(plan, None)[0]

    def observed(
        self, plan: Plan, observe: Callable[[], Callable[[], Any]] | None
    ) -> tuple[Ran, Any]:
        """Run under a plan. `observe` is called in the run's process before it begins; what it
        returns is called at the end, for what was observed, which must be fit for JSON."""
        os.ftruncate(self.words, 0)
        sys.stdout.flush()
        sys.stderr.flush()
        self.settings = replace(self.settings, stall_s=self._stall_s())
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._be_the_run(plan, observe)
        status = self._wait(pid)
        ran, words = self._judge(plan, status)
        if ran.seen.end == COMPLETE and words:
            self.longest_s = max(self.longest_s, time.monotonic() - started)
        if self.is_first:
            self.is_first = False
            self._load(words.get("loaded", ()))
        return ran, words.get("observed")

    def _stall_s(self) -> float:
        """Far longer than any run has taken; before one has ended, nothing is known."""
        if not self.longest_s:
            return 0.0
        shortest_s, factor = _SHORTEST_STALL_S, _STALL_FACTOR
        if self.is_hasty:
            shortest_s, factor = _HASTY_STALL_S, _HASTY_STALL_FACTOR
        return min(max(shortest_s, factor * self.longest_s), self.hang_s / 2)

    def hurry(self) -> None:
        """From now on runs are variations of one that is known to fail."""
        self.is_hasty = True
        if self.longest_s:
            self.hang_s = min(self.hang_s, max(_HASTY_HANG_S, _HANG_FACTOR * self.longest_s))

    def _load(self, names: Sequence[str]) -> None:
        """Libraries that the program loads are loaded here, once, and not in every run anew."""
        before = threading.active_count()
        for name in names:
            with suppress(BaseException):
                import_module(name)
        self.loaded = tuple(names)
        if threading.active_count() > before:
            self.note = "a library starts threads when it is loaded: they are not explored"

    # ---- in the run's process ----

    def _be_the_run(self, plan: Plan, observe: Callable[[], Callable[[], Any]] | None) -> None:
        _core.die_with_launcher()
        os.setpgid(0, 0)  # Ctrl-C is for the command
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._redirect()
        words: dict[str, Any] = {}
        before = set(sys.modules)
        pid = os.getpid()
        try:
            words = self._run(plan, observe)
        except BaseException as error:  # ours: the program's are caught before
            words = {"broken": f"{type(error).__name__}: {error}"}
        finally:
            if os.getpid() != pid:  # the program has forked, and this is the child
                os._exit(words.get("failure") is not None)
            if self.is_first:
                words["loaded"] = _libraries(before)
            self._say(words)
            os._exit(0)

    def _say(self, words: dict[str, Any]) -> None:
        """In place of what was said before, for the process that forked this one."""
        data = json.dumps(words).encode()
        os.ftruncate(self.words, 0)
        while data:
            data = data[os.pwrite(self.words, data, os.fstat(self.words).st_size) :]

    def _redirect(self) -> None:
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)

    def _run(self, plan: Plan, observe: Callable[[], Callable[[], Any]] | None) -> dict[str, Any]:
        watch = Watch(self.settings.ignored, looks=self.settings.races is not None)
        _core.explore_open(SystemExit)
        observed = None if observe is None else observe()
        with runs.watching(watch):
            runs.begin(plan, self.settings, lambda reason: self._give_up(watch, reason))
            error = self._call()
            is_settled = _core.explore_settle()
            raw = runs.seen_races(watch)
            paths = runs.thread_paths()
            runs.look_for_unseen()
            result = _core.explore_end()
        failure = runs.verdict(result["reason"], error, watch)
        note = "" if is_settled or failure else "a daemon thread was still running at the end"
        return {
            "failure": failure.as_dict() if failure is not None else None,
            "uncontrolled": result["note"] if result["uncontrolled"] else note,
            "swallowed": list(watch.swallowed),
            "paths": list(paths),
            "observed": None if observed is None else observed(),
            "raw": raw,
        }

    def _give_up(self, watch: Watch, reason: int) -> None:
        """The program is ended by exceptions, which it may swallow for ever: say what is known."""
        watch.on_abort(reason)
        failure = runs.verdict(reason, None, watch)
        if failure is not None:
            self._say({"failure": failure.as_dict(), "paths": list(runs.thread_paths())})
        faulthandler.dump_traceback_later(_TO_END_S, exit=True)

    def _call(self) -> BaseException | None:
        error: BaseException | None = None
        try:
            self.execute()
        except BaseException as raised:
            error = raised
        try:
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            if self.settings.check is not None and error is None:
                self.settings.check()
        except BaseException as raised:
            error = error or raised
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        return error

    # ---- in this process ----

    def _wait(self, pid: int) -> int | None:
        """The status of the process; None if it had to be killed."""
        descriptor = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        deadline = time.monotonic() + self.hang_s
        try:
            while not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                if time.monotonic() >= deadline:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    return None
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        finally:
            os.close(descriptor)
        return os.waitpid(pid, 0)[1]

    def _judge(self, plan: Plan, status: int | None) -> tuple[Ran, dict[str, Any]]:
        result = _core.explore_result()
        said = os.pread(self.words, os.fstat(self.words).st_size, 0)
        words = json.loads(said) if said else {}
        failure = None
        uncontrolled = words.get("uncontrolled", "") or self.note
        if words.get("failure") is not None:
            failure = Failure.from_dict(words["failure"])
        elif not words:
            failure, uncontrolled = self._died(status)
            result = {**result, "reason": LIMIT if status is None else COMPLETE}
        elif "broken" in words:
            uncontrolled = f"the run could not be made: {words['broken']}"
        ran = Ran(
            seen=runs.seen_of(plan, result),
            failure=failure,
            uncontrolled=uncontrolled,
            threads=result["threads"],
            swallowed=tuple(words.get("swallowed", ())),
            paths=tuple(words.get("paths", ())),
            raw=words.get("raw"),
        )
        return runs.judged(ran, self.settings), words

    def _died(self, status: int | None) -> tuple[Failure | None, str]:
        """Of a process that left no words: it ended itself, or was ended."""
        if status is None and self.longest_s:
            others = f"the others ended within {self.longest_s:.2g}"
            text = f"a run did not end within {self.hang_s:g} seconds; {others}"
            return Failure("deadlock", f"deadlock: {text}"), ""
        if status is None:
            return None, f"a run did not end within {self.hang_s:g} seconds of real time"
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            return None, "the program ended by os._exit, and what its threads did is not known"
        how = f"was killed by signal {-code}" if code < 0 else f"ends with {code} by os._exit"
        return Failure("exit", f"the program {how}"), ""


def _libraries(before: set[str]) -> list[str]:
    """Modules of libraries that have been loaded since, in order."""
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name not in before and isinstance(path, str) and loader.is_library(path):
            found.append(name)
    return found
