"""One run of a program under a plan, and what came of it.

Owns the process's side of a run: the patches, opening the gate once, beginning and ending runs, and
what counts as a failure in them. `function.py` runs a function in this process; `script.py` a
program in forked ones. Who plans the runs is `search.py`.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from reenact import _core
from reenact.engine import child, detecting, following
from reenact.findings import Failure, Line, Waiting
from reenact.inputs import Inputs
from reenact.intercept import futures, loops
from reenact.strategies.searching import COMPLETE, DEADLOCK, LIMIT, Plan, Seen, Step

if TYPE_CHECKING:  # takes a while to load, and is not always needed
    from reenact.explore.raced import Judge

Points = Literal["sync", "ticks", "accesses"]
PATIENCE_S = 1.0
ENDING_PATIENCE = 40  # moments of about 20 ms in which nobody runs, for threads to be ended
STEP_LIMIT = 100_000
TOO_MANY_THREADS = "there were more threads at once than the race detector can keep apart"

_OURS = __file__.rpartition("/explore/")[0] + "/"


@dataclass(frozen=True, slots=True)
class Settings:
    """How runs are made, whatever their plans."""

    points: Points = "accesses"
    instrument: tuple[str, ...] = ()
    step_limit: int = STEP_LIMIT
    patience_s: float = PATIENCE_S
    real_clock: bool = False
    check: Callable[[], object] | None = None
    stall_s: float = 0.0  # real time in which nothing happens; 0: a run may wait for ever
    ignored: frozenset[str] = frozenset()  # exceptions of threads that are no failures
    races: Judge | None = None  # looks for races as well, and says which of them are failures

    @property
    def terms(self) -> following.Terms:
        return following.Terms(
            self.points,
            self.step_limit,
            int(self.patience_s * 1e9),
            not self.real_clock,
            int(self.stall_s * 1e9),
        )


@dataclass(slots=True)
class Ran:
    """What came of a run."""

    seen: Seen
    failure: Failure | None
    uncontrolled: str  # what escaped us, "" if nothing
    threads: int
    swallowed: tuple[str, ...] = ()  # exceptions that nobody looked at
    paths: tuple[str, ...] = ()  # of the threads, by index
    error: BaseException | None = None  # that the failure is, if it happened in this process
    raw: dict[str, Any] | None = None  # what the race detector saw, if it was on
    race: Failure | None = None  # a race, whatever else the failure is

    @property
    def plan(self) -> Plan:
        return self.seen.plan


class Runner(Protocol):
    """Runs the program once under a plan."""

    def run(self, plan: Plan) -> Ran: ...


class Observable(Runner, Protocol):
    """And lets an observer see what the threads do."""

    def observed(self, plan: Plan, observe: Callable[[], Callable[[], Any]]) -> tuple[Ran, Any]: ...


def observed(
    runner: Runner, plan: Plan, observe: Callable[[], Callable[[], Any]]
) -> tuple[Ran, Any]:
    """Run in this process with an observer that `observe` sets; what it returns is called at the
    end, for what was observed."""
    finish = observe()
    try:
        ran = runner.run(plan)
    finally:
        _core.explore_observe(None)
        said = finish()
    return ran, said


def begin(plan: Plan, settings: Settings, hook: Callable[[int], None]) -> None:
    if settings.races is not None:
        detecting.begin()
    following.begin(plan, settings.terms, hook)


def seen_races(watch: Watch) -> dict[str, Any] | None:
    """What the detector saw, once the program has come to its end; what is done to end threads that
    are left is none of the program's."""
    if watch.looks and watch.raw is None:
        watch.raw = detecting.end()
    return watch.raw


def judged(ran: Ran, settings: Settings) -> Ran:
    """A run that went well is a failure, too, if it has a race."""
    if settings.races is not None and ran.raw is not None:
        ran.race = settings.races.failure_of(ran.raw, ran.paths)
        ran.failure = ran.failure or ran.race
        if ran.raw["overflow"] and not ran.uncontrolled:
            ran.uncontrolled = TOO_MANY_THREADS
        ran.uncontrolled = ran.uncontrolled or next(iter(ran.raw["unseen"]), "")
    return ran


def end(patience: int = ENDING_PATIENCE, lets_go: bool = False) -> tuple[dict[str, Any], bool]:
    """What came of the run, and whether all its threads could be ended. `lets_go`: those that wait
    in an outside call are left there, and counted as "left"."""
    look_for_unseen()
    if not _core.explore_is_aborting():
        loops.give_up()
    has_ended = _core.explore_abandon(patience)
    left = _core.explore_let_go() if lets_go and not has_ended else 0
    has_ended = has_ended or _core.explore_is_clear()
    loops.end()
    _core.quietly(_forget_unstarted)
    return _core.explore_end() | {"left": left}, has_ended


def look_for_unseen() -> None:
    """Tell the watch of exceptions that the program has kept somewhere, and never looked at."""
    if not _core.explore_is_aborting():
        loops.look_for_unretrieved()
        futures.look_for_unseen()


def _forget_unstarted() -> None:
    """Threads that were ended before they had begun are not to be joined by anybody."""
    limbo: dict[Any, Any] = threading._limbo  # type: ignore[attr-defined]
    limbo.clear()


def seen_of(plan: Plan, result: dict[str, Any]) -> Seen:
    return Seen(
        plan=plan,
        end=result["reason"],
        length=result["choices"],
        fingerprint=result["fingerprint"],
        preemptions=result["preemptions"],
        racy=result["racy"],
        is_timed=result["timed"] > 0,
        steps=lambda: [Step(*fields) for fields in _core.explore_trace()],
        useful=result["useful"] if result["finished"] else None,
    )


_is_taken_over = False


def take_over(inputs: Inputs | None = None) -> None:
    """Patch the interpreter, once in a process."""
    global _is_taken_over
    if not _is_taken_over:
        _is_taken_over = True
        child.take_over(inputs or Inputs())
        futures.install()
    following.prepare()


def thread_paths() -> tuple[str, ...]:
    paths: list[str] = []
    for parent, ordinal in _core.explore_threads():
        paths.append("0" if parent < 0 else f"{paths[parent]}.{ordinal}")
    return tuple(paths)


# ---- what counts as a failure ----


def failure_of(error: BaseException, thread: str = "0") -> Failure | None:
    """None for a program that ends itself without complaint."""
    if isinstance(error, SystemExit):
        return _exit_failure(error, thread)
    kind: Literal["assertion", "exception"] = "exception"
    if isinstance(error, AssertionError):
        kind = "assertion"
    summary = "".join(traceback.format_exception_only(type(error), error)).strip()
    text = "".join(traceback.format_exception(type(error), error, _their_part(error.__traceback__)))
    return Failure(kind, summary.splitlines()[0] if summary else kind, thread, text)


def _exit_failure(error: SystemExit, thread: str) -> Failure | None:
    if error.code in (None, 0):
        return None
    return Failure("exit", f"the program ends with {error.code!r}", thread)


def _their_part(tb: Any) -> Any:
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(_OURS):
        tb = tb.tb_next
    return tb


@dataclass(slots=True)
class Watch:
    """Sees what goes wrong in a run, in whatever thread."""

    ignored: frozenset[str] = frozenset()
    failures: list[Failure] = field(default_factory=list)
    swallowed: list[str] = field(default_factory=list)  # exceptions that nobody looked at
    errors: list[BaseException] = field(default_factory=list)  # that these are
    waiting: tuple[Waiting, ...] = ()
    muted: tuple[Any, Any] | None = None
    looks: bool = False  # for races
    raw: dict[str, Any] | None = None  # what was seen of them

    def on_thread_error(self, error: BaseException) -> None:
        paths = thread_paths()
        index = _core.explore_me()
        thread = paths[index] if 0 <= index < len(paths) else "?"
        failure = failure_of(error, thread)
        if failure is not None and type(error).__name__ not in self.ignored:
            self.failures.append(failure)
            self.errors.append(error)

    def on_unraisable(self, error: BaseException | None) -> None:
        """In a finaliser, or as the program ends: Python would only print it."""
        if error is not None and not _core.explore_is_aborting():
            self.swallowed.append(f"Python can only print it: {type(error).__name__}: {error}")

    def on_abort(self, reason: int) -> None:
        """Called once, by whichever thread hears of it first, while all others stand still."""
        self.waiting = (*_waiting(), *loops.waiting())
        seen_races(self)
        loops.give_up()
        if "logging" in sys.modules:  # what pools say of threads that are ended is only noise
            # not logging.disable, which has loggers forget what they know, and lock anew
            logger = sys.modules["logging"].Logger
            self.muted = logger, logger.callHandlers
            logger.callHandlers = _say_nothing

    def unmute(self) -> None:
        if self.muted is not None:
            logger, call_handlers = self.muted
            logger.callHandlers = call_handlers


def _say_nothing(*args: object) -> None:
    """In place of `Logger.callHandlers`."""


def _waiting() -> tuple[Waiting, ...]:
    frames = sys._current_frames()
    paths = thread_paths()
    found = []
    for index, _status, _operation, kind, owner, ident in _core.explore_waits():
        if ident not in frames or not kind:
            continue
        what = _core.OBJECTS[kind]
        holder = paths[owner] if 0 <= owner < len(paths) and owner != index else ""
        found.append(Waiting(paths[index], what, holder, _stack(frames[ident])))
    return tuple(found)


def _stack(frame: Any) -> tuple[Line, ...]:
    """Innermost first; frames of ours, and those that start a thread, say nothing."""
    lines = []
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_OURS) and "_bootstrap" not in code.co_name:
            lines.append(Line(code.co_filename, frame.f_lineno or 0, code.co_qualname))
        frame = frame.f_back
    return tuple(lines)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Exceptions that end a thread are seen, and not printed."""
    make = threading._make_invoke_excepthook  # type: ignore[attr-defined]
    unraisable = sys.unraisablehook

    def make_ours() -> Callable[[Any], None]:
        def invoke_excepthook(thread: Any) -> None:  # a name that `reenact debug` looks for
            error = sys.exc_info()[1]
            if error is not None:
                _core.quietly(watch.on_thread_error, error)

        return invoke_excepthook

    def on_unraisable(args: Any) -> None:
        if "thread started by" in (args.err_msg or "") and args.exc_value is not None:
            watch.on_thread_error(args.exc_value)
        elif not isinstance(args.exc_value, SystemExit):
            watch.on_unraisable(args.exc_value)
            unraisable(args)

    loops.report_to(watch.swallowed.append)
    futures.report_to(watch.swallowed.append)
    threading._make_invoke_excepthook = make_ours  # type: ignore[attr-defined]
    sys.unraisablehook = on_unraisable
    try:
        yield
    finally:
        threading._make_invoke_excepthook = make  # type: ignore[attr-defined]
        sys.unraisablehook = unraisable
        if watch.looks and watch.raw is None:  # the user has interrupted us
            detecting.end()
        loops.report_to(None)
        futures.report_to(None)
        watch.unmute()


def verdict(end: int, error: BaseException | None, watch: Watch) -> Failure | None:
    """The failure of a run, if it is one."""
    if end == DEADLOCK:
        return _deadlock(watch)
    if end == LIMIT:
        return Failure(
            "livelock", "the run came to no end within the step limit", waiting=watch.waiting
        )
    if end != COMPLETE:  # it was given up, and what came of that is not the program's fault
        return None
    if error is not None:
        own = failure_of(error)
        if own is not None:
            return own
    return watch.failures[0] if watch.failures else None


def _deadlock(watch: Watch) -> Failure:
    failure = Failure("deadlock", "", waiting=watch.waiting)
    cycle = failure.cycle
    if cycle:
        text = "deadlock: " + " -> ".join(f"thread {name}" for name in (*cycle, cycle[0]))
    else:
        text = f"deadlock: {_everybody(watch)} for ever, and nobody can wake them"
    return replace(failure, summary=text)


def _everybody(watch: Watch) -> str:
    tasks = sum(each.what == "await" for each in watch.waiting)
    threads = len(watch.waiting) - tasks
    if tasks and threads == 1:
        return f"all {tasks} tasks wait" if tasks > 1 else "the task and its loop wait"
    if threads == 1:
        return "the only thread left waits"
    return f"all {threads} threads" + (f" and {tasks} tasks" if tasks else "") + " wait"


def non_daemons() -> list[threading.Thread]:
    current = threading.current_thread()
    return [each for each in threading.enumerate() if each is not current and not each.daemon]


__all__ = ["Points", "Ran", "Runner", "Settings", "Watch"]
