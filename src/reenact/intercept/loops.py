"""Event loops in runs of a search: what asyncio leaves to chance, the search decides.

Owns the patches of asyncio, which do nothing outside of runs:

- a loop waits in the gate instead of the kernel (`_core/ready.c`), so that other threads run
  meanwhile, time is virtual, and a loop that nobody can wake is a deadlock;
- steps of different tasks come in any order; plain callbacks keep theirs, so does each task, and
  whom a future wakes comes after the callbacks that the future has called before; if waits are
  taken at their word, tasks also begin as asyncio has it: in the order in which they were made,
  and before the task that made them goes on;
- a loop may be slow: time may pass although something is ready, and to more than the next timer;
- descriptors that are ready together are looked at in any order;
- what asyncio would only log (exceptions that nobody looks at) is told to the search.

Loops are taken over as they are first run, or called from another thread, in a run.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from operator import attrgetter
from types import ModuleType
from typing import Any

from reenact import _core
from reenact.findings import Line, Waiting
from reenact.intercept.futures import is_cancellation
from reenact.intercept.lazy import call_when_loaded

_NUMBER = "_reenact_number"  # of tasks and futures, given by the core
_GUARD = "_reenact_guard"
_NOW, _TIMER, _DESCRIPTOR = 1 << 40, 1 << 41, 1 << 42  # what choices are about, beside tasks
_STEPS = {"task_wakeup", "__step", "__wakeup"}  # callbacks that run a task, by their names
_MOST_CHOICES = 64
_FAIRNESS = 50  # callbacks that may come before the one that is first in the queue
_POLL_EVENTS = {1: 1, 2: 4, 3: 5}  # of `selectors` as `poll` has them

_when = attrgetter("_when")
# Recorded like an input: a replay chooses as it was chosen.
_kept = _core.call("reenact.choice", int, "recorded", 0)


def _choose_among(identities: list[int]) -> int:
    chosen: int = _kept(_core.explore_choose(identities))
    return chosen


class _Run:
    """What holds for the run that is under way."""

    def __init__(self) -> None:
        self.is_on = False
        self.patience_s = 0.0
        self.keeps_beginnings = False
        self.timers = 0
        self.unnumbered = 0
        self.loops: list[weakref.ref[Any]] = []
        self.given_up: list[Any] = []  # loops that will not be run to their end
        self.report: Callable[[str], object] | None = None
        self.current_loops: tuple[Any, Any] | None = None


_run = _Run()


def begin(patience_s: float, keeps_beginnings: bool) -> None:
    """Before `_core.explore_begin`."""
    _run.is_on = True
    _run.patience_s = patience_s
    _run.keeps_beginnings = keeps_beginnings
    _run.timers = _run.unnumbered = 0
    _run.loops = []
    _run.given_up = []
    if "asyncio.base_events" in sys.modules:
        _core.quietly(_warm_up)
    _run.current_loops = _forget_current_loops()


def _warm_up() -> None:
    """What asyncio does once in a process is done now: the first run is like the others."""
    import concurrent.futures.thread  # noqa: F401

    sys.modules["asyncio.events"].get_event_loop_policy()
    sys.modules["asyncio.log"].logger.isEnabledFor(10)


def report_to(report: Callable[[str], object] | None) -> None:
    """Who is told of exceptions that nobody looks at."""
    _run.report = report


def give_up() -> None:
    """As the run is given up, or comes to its end while threads of it still run loops."""
    is_aborting = _core.explore_is_aborting()
    _run.given_up += [loop for loop in _loops() if is_aborting or loop.is_running()]


def end() -> None:
    """Once all threads of the run have ended, before `_core.explore_end`: leaves nothing behind."""
    _run.is_on = False
    for loop in _loops():
        _tidy(loop)
        if isinstance(loop._ready, _Ready):
            loop._ready.forget()
    for loop in _run.given_up:
        with suppress(BaseException):
            loop.close()
    _run.loops = []
    _run.given_up = []
    if _run.current_loops is not None:
        policy, local = _run.current_loops
        policy._local = local
        _run.current_loops = None


def _loops() -> list[Any]:
    loops = [reference() for reference in _run.loops]
    return [loop for loop in loops if loop is not None]


def _forget_current_loops() -> tuple[Any, Any] | None:
    """`get_event_loop()` in a run must not find what another run has left."""
    events = sys.modules.get("asyncio.events")
    policy = getattr(events, "_event_loop_policy", None)
    if policy is None or not hasattr(policy, "_local") or not hasattr(policy, "_Local"):
        return None
    before = policy._local
    policy._local = policy._Local()
    return policy, before


# ---- taking over ----


def install() -> None:
    """Patch asyncio, now or when it is loaded. Once in a process."""
    _core.hide_frames(install.__code__)
    module = sys.modules.get("asyncio.base_events")
    if module is not None:
        _patch(module)
    call_when_loaded({"asyncio.base_events": _patch})


def _patch(module: ModuleType) -> None:
    if hasattr(module, "_reenact_is_patched"):
        return
    module._reenact_is_patched = True  # type: ignore[attr-defined]
    base = module.BaseEventLoop
    _patch_running(base)
    _patch_calls(base)
    _patch_exceptions(base)
    events = sys.modules["asyncio.events"]
    events.TimerHandle = _timer_class(events.TimerHandle)  # type: ignore[attr-defined]
    native = sys.modules.get("_asyncio")
    if native is not None:
        _core.explore_number_instances(native.Future)
        _core.explore_number_instances(native.Task)


def _patch_running(base: Any) -> None:
    native, native_init = base._check_running, base.__init__

    def __init__(self: Any) -> None:
        native_init(self)
        if _run.is_on:
            _run.loops.append(weakref.ref(self))

    def _check_running(self: Any) -> None:
        if _run.is_on:
            _adopt(self)
        native(self)

    base._check_running, base.__init__ = _check_running, __init__


def _patch_calls(base: Any) -> None:
    """From other threads, for which the loop is something shared."""
    native_call, native_close = base.call_soon_threadsafe, base.close

    def call_soon_threadsafe(self: Any, callback: Any, *args: Any, context: Any = None) -> Any:
        if _run.is_on:
            _touch(self)
        return native_call(self, callback, *args, context=context)

    def close(self: Any) -> None:
        if _run.is_on:
            _touch(self)
        native_close(self)

    base.call_soon_threadsafe, base.close = call_soon_threadsafe, close


def _touch(loop: Any) -> None:
    guard = _adopt(loop)
    if guard is not None:
        guard.ready.put()


class _Guard:
    """Stands between a loop and the kernel."""

    __slots__ = ("__weakref__", "loop", "ready")

    def __init__(self, loop: Any) -> None:
        self.loop = weakref.ref(loop)
        self.ready = _core.Ready()


def _adopt(loop: Any) -> _Guard | None:
    """None for a loop that is not one of asyncio's own kind."""
    guard: _Guard | None = loop.__dict__.get(_GUARD)
    if guard is None:
        selector = getattr(loop, "_selector", None)
        if selector is None or type(loop._ready) is not deque:
            return None
        guard = loop.__dict__[_GUARD] = selector.__dict__[_GUARD] = _Guard(loop)
        selector.__class__ = _selector_class(type(selector))
        loop._ready = _Ready(loop._ready)
    if all(reference() is not loop for reference in _run.loops):
        _run.loops.append(weakref.ref(loop))
    return guard


# ---- waiting ----

_selector_classes: dict[type, type] = {}


def _selector_class(native: Any) -> type:
    if native not in _selector_classes:

        def select(self: Any, timeout: float | None = None) -> list[Any]:
            loop = self.__dict__[_GUARD].loop()
            if not _run.is_on or loop is None:
                return list(native.select(self, timeout))
            return _select(self, loop, native.select, timeout)

        _selector_classes[native] = type(native.__name__, (native,), {"select": select})
    return _selector_classes[native]


def _select(
    selector: Any,
    loop: Any,
    native: Callable[[Any, float | None], list[Any]],
    timeout: float | None,
) -> list[Any]:
    if timeout is not None and timeout <= 0:
        loop.__dict__[_GUARD].ready.look()
    elif not _wait(selector, loop, timeout):
        return native(selector, timeout)
    found = native(selector, 0)
    if found and loop._ready:
        found = _not_yet_seen(found, loop._ready)
    if len(found) > 1:
        found = _in_some_order(found)
    if loop._scheduled:
        _let_time_pass(loop)
    return found


def _wait(selector: Any, loop: Any, timeout: float | None) -> bool:
    """False if the gate has no part in it."""
    ready: _core.Ready = loop.__dict__[_GUARD].ready
    if not ready.come(_descriptors(selector), timeout is not None):
        return False
    if not _kept(ready.is_free()):
        ready.wait(timeout, _is_abroad(loop, selector), _is_patient(loop))
    ready.done()
    return True


def _descriptors(selector: Any) -> list[tuple[int, int]]:
    if hasattr(selector, "fileno"):
        return [(selector.fileno(), 1)]
    return [(key.fd, _POLL_EVENTS[key.events]) for key in selector.get_map().values()]


def _is_abroad(loop: Any, selector: Any) -> bool:
    """Could anybody but the threads of this process wake the loop? Its own pipe is always there."""
    return len(selector.get_map()) > 1 or bool(getattr(loop, "_signal_handlers", None))


def _is_patient(loop: Any) -> bool:
    return bool(loop._scheduled) and getattr(loop._scheduled[0], "is_patient", False)


def _not_yet_seen(found: list[Any], handles: _Ready) -> list[Any]:
    """Without descriptors whose callbacks are still to come: asyncio never calls one twice for what
    came once, since it calls everything that is ready before it looks again."""
    queued = {id(handle) for handle in handles}
    left = []
    for key, events in found:
        if isinstance(key.data, tuple):  # (reader, writer)
            for event, handle in zip((1, 2), key.data, strict=False):
                if id(handle) in queued:
                    events &= ~event
        if events:
            left.append((key, events))
    return left


def _in_some_order(found: list[Any]) -> list[Any]:
    left = sorted(found, key=lambda pair: pair[0].fd)
    order = []
    while len(left) > 1:
        order.append(left.pop(_choose_among([_DESCRIPTOR + key.fd for key, _ in left])))
    return order + left


# ---- timers ----


def _timer_class(native: Any) -> Any:
    class TimerHandle(native):  # type: ignore[misc]
        """Knows whether it was to come soon, and which one of the run it is."""

        __slots__ = ("is_patient", "number")

        def __init__(
            self, when: float, callback: Any, args: Any, loop: Any, context: Any = None
        ) -> None:
            super().__init__(when, callback, args, loop, context)
            self.is_patient = False
            self.number = 0
            if _run.is_on:
                _run.timers += 1
                self.number = _run.timers
                self.is_patient = when - loop.time() >= _run.patience_s

    TimerHandle.__qualname__ = "TimerHandle"
    TimerHandle.__module__ = native.__module__
    return TimerHandle


def _let_time_pass(loop: Any) -> None:
    """A loop may be late, so late that several timers have come due."""
    now = loop.time()
    for timer in sorted(loop._scheduled, key=_when):
        if timer._cancelled or timer._when <= now:
            continue
        if getattr(timer, "is_patient", True):
            return
        if not _choose_among([_NOW, _TIMER + timer.number]):
            return
        if not _kept(_core.explore_pass_time(timer._when - now)):
            return
        now = timer._when


# ---- the order of tasks ----


class _Ready(deque[Any]):
    """A loop's callbacks that are to be called, of which any task's may be the next.

    But not for ever: asyncio calls everything that is ready before it looks for more, and callbacks
    that call themselves again until somebody else has run rely on that.
    """

    __slots__ = ("known", "makers", "passed")

    def __init__(self, handles: Iterable[Any]) -> None:
        super().__init__(handles)
        self.passed = 0  # callbacks that came before the first one
        self.known: set[int] = set()  # tasks that were here
        self.makers: dict[int, int] = {}  # of tasks that have not begun yet

    def append(self, handle: Any) -> None:
        deque.append(self, handle)
        if _run.is_on and _run.keeps_beginnings:
            task = _identity(handle._callback)
            if task and task not in self.known:
                self.known.add(task)
                if not handle._args:  # nobody wakes it
                    self.makers[task] = _current_task(handle._loop)

    def popleft(self) -> Any:
        if len(self) > 1 and _run.is_on and self.passed < _FAIRNESS:
            at = _choose(self)
            if at:
                self.passed += 1
                handle = self[at]
                del self[at]
                return self._begun(handle)
        self.passed = 0
        return self._begun(deque.popleft(self))

    def forget(self) -> None:
        """The next run counts its tasks anew."""
        self.known.clear()
        self.makers.clear()

    def _begun(self, handle: Any) -> Any:
        if self.makers:
            self.makers.pop(_identity(handle._callback), None)
        return handle


def _choose(handles: _Ready) -> int:
    """The position of a step of any task, or of the first plain callback."""
    places: dict[int, int] = {}
    called: set[int] = set()  # futures whose plain callbacks are yet to come
    makers: set[int] = set()  # tasks that have made others which are to begin before they go on
    for place, handle in enumerate(handles):
        if handle._cancelled:
            return place
        identity = _identity(handle._callback)
        about = id(handle._args[0]) if handle._args else 0
        if not identity:
            called.add(about)
        elif (about and about in called) or identity in makers:
            continue
        elif identity in handles.makers:
            is_next = not makers
            makers.add(handles.makers[identity])
            if not is_next:
                continue
        if identity not in places:
            places[identity] = place
            if len(places) == _MOST_CHOICES:
                break
    if len(places) < 2:
        return 0
    return list(places.values())[_choose_among(list(places))]


def _identity(callback: Any) -> int:
    """The number of the task whose step this is; 0 for any other callback."""
    if type(callback).__name__ != "TaskStepMethWrapper":
        if getattr(callback, "__name__", None) not in _STEPS:
            return 0
        if not hasattr(callback.__self__, "get_coro"):
            return 0
    return _number(callback.__self__)


def _current_task(loop: Any) -> int:
    """The number of the task that runs; 0 for none."""
    task = sys.modules["asyncio.tasks"].current_task(loop)
    return 0 if task is None else _number(task)


def _number(task: Any) -> int:
    number: int | None = getattr(task, _NUMBER, None)
    if number is None:  # made before the run, or not by asyncio's own class
        _run.unnumbered += 1
        number = (1 << 32) + _run.unnumbered
        setattr(task, _NUMBER, number)
    return number


# ---- what goes wrong ----


def _patch_exceptions(base: Any) -> None:
    native = base.call_exception_handler

    def call_exception_handler(self: Any, context: dict[str, Any]) -> None:
        if _core.explore_is_aborting():
            return
        if not _run.is_on or self._exception_handler is not None:
            native(self, context)
        else:
            _report(context.get("message", ""), context.get("exception"))

    base.call_exception_handler = call_exception_handler


def _report(message: str, error: BaseException | None) -> None:
    if is_cancellation(error):
        return
    text = message.partition("(")[0].strip()  # what follows differs from run to run
    if error is not None:
        text += f": {type(error).__name__}: {error}".rstrip(": ")
    if _run.report is not None:
        _run.report(text)


def look_for_unretrieved() -> None:
    """Once the program has run to its end: exceptions of tasks that nobody has asked for."""
    for loop in _loops():
        for task in _tasks(loop):
            if task.done() and getattr(task, "_log_traceback", False):
                task._log_traceback = False
                _report("Task exception was never retrieved", task._exception)


def _tasks(loop: Any) -> list[Any]:
    """All of a loop's tasks that still exist, done or not, in order of their creation."""
    module = sys.modules["asyncio.tasks"]
    known: Any = getattr(module, "_scheduled_tasks", None) or getattr(module, "_all_tasks", ())
    tasks = {task for task in list(known) if task.get_loop() is loop}
    tasks.update(module.all_tasks(loop))
    return sorted(tasks, key=lambda task: getattr(task, _NUMBER, 0))


def _tidy(loop: Any) -> None:
    """Tasks that were given up in the middle must not complain when they are freed."""
    for task in _tasks(loop):
        if task.done():
            if getattr(task, "_log_traceback", False):
                task._log_traceback = False
            continue
        task._log_destroy_pending = False
        with suppress(BaseException):
            task.get_coro().close()


# ---- who waits ----


def waiting() -> list[Waiting]:
    """The tasks that have not ended, and where they await."""
    found = []
    for loop in _loops():
        pending = [task for task in _tasks(loop) if not task.done()]
        for place, task in enumerate(pending, 1):
            found.append(Waiting(_name(task, place), "await", "", tuple(_stack(task.get_coro()))))
    return found


def _name(task: Any, place: int) -> str:
    """Names that asyncio gives count on from run to run, and say nothing."""
    name: str = task.get_name()
    if name.startswith("Task-"):
        return f"task {place} ({getattr(task.get_coro(), '__qualname__', '?')})"
    return f"task {name}"


def _stack(coroutine: Any) -> Iterator[Line]:
    """Innermost first."""
    lines = []
    while coroutine is not None:
        frame = None
        for kind in ("cr", "gi", "ag"):
            if hasattr(coroutine, f"{kind}_frame"):
                frame = getattr(coroutine, f"{kind}_frame")
                following = getattr(coroutine, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
        if frame is None:
            break
        code = frame.f_code
        lines.append(Line(code.co_filename, frame.f_lineno or 0, code.co_qualname))
        coroutine = following
    return reversed(lines)
