"""What the threads of a run did: an event for each operation and access, with its place and values.

A trail is an observer of one run that follows switches (`_core.explore_observe`). A place is given
in terms of the user's code: the innermost frame that is neither the standard library's nor ours, by
its function and the line counted from the function's first one. So edits elsewhere in the file do
not move it, and how the standard library does its work does not matter either.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from reenact import _core
from reenact.engine.edges import PUT
from reenact.explore import runs
from reenact.explore.checks import Checks
from reenact.explore.shown import show, value_of

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARY = tuple(
    {sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")} | {"<frozen "}
)
_PACKAGES = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})

_LOCKS = ("lock", "RLock", "SimpleQueue")
_NAMED = (*_LOCKS, "list", "dict", "set", "deque", "defaultdict")


class Place(NamedTuple):
    """Where in the program, in words that outlive edits elsewhere; `via` is the function of the
    standard library that does the operation, "" if the user's code does it itself."""

    function: str
    offset: int  # in lines, from the function's first one
    via: str
    operation: str
    name: str  # of the variable, "contents" of a container, "" of a lock or queue

    def __str__(self) -> str:
        via = f" in {self.via}" if self.via else ""
        name = f" of {self.name}" if self.name else ""
        return f"{self.function}+{self.offset}{via} before {self.operation}{name}"


@dataclass(slots=True)
class Event:
    """A thread at a place: `came` says when, `order` when it did what it came for, -1 if never."""

    thread: str
    index: int
    position: int
    place: Place
    occurrence: int  # the thread is there for the how-manieth time
    file: str
    line: int
    what: str  # what it touches, as a reader would call it
    thing: int  # the same for the same thing, 0 for none
    called: str  # the function of the standard library that the user's code has called, or ""
    came: int
    order: int = -1
    before: str = ""  # the value as it did it
    after: str = ""  # and when it had done it
    checks: int = -1  # places so far where the thread could be switched, -1 if they are not known
    in_call: bool = False  # and the operation ends with one
    task: str = ""  # of an event loop, whose coroutine runs

    @property
    def who(self) -> str:
        """The task, or else the thread."""
        return self.task or self.thread

    @property
    def reads(self) -> bool:
        return self.place.operation == "read"

    @property
    def writes(self) -> bool:
        return self.place.operation == "write"


def caller(depth: int) -> FrameType | None:
    """The frame of the program that an observer is called in; None as a thread ends."""
    try:
        return sys._getframe(depth + 1)
    except ValueError:
        return None


def where(frame: FrameType | None) -> tuple[FrameType | None, str]:
    """The innermost frame of the user's code, and the library's function that it has called."""
    via = ""
    innermost = None
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OURS):
            innermost = innermost or frame
            if not name.startswith(_LIBRARY) or name.startswith(_PACKAGES):
                return frame, via
            via = via or frame.f_code.co_qualname
        frame = frame.f_back
    return innermost, ""


def called_by(frame: FrameType | None, user: FrameType | None) -> str:
    """The function that the user's frame has called, if it led to `frame`."""
    called = ""
    while frame is not None and frame is not user:
        if frame.f_code.co_qualname not in PUT:
            called = frame.f_code.co_qualname
        frame = frame.f_back
    return called


def place_of(frame: FrameType | None, operation: str, name: str) -> Place:
    user, via = where(frame)
    if user is None:
        return Place("thread", 0, "", operation, name)
    code = user.f_code
    is_library = code.co_filename.startswith(_LIBRARY)  # its lines differ from version to version
    offset = 0 if is_library else max(0, (user.f_lineno or 0) - code.co_firstlineno)
    return Place(code.co_qualname, offset, via, operation, name)


def name_of(holder: object, name: str | None, operation: str) -> str:
    if operation not in ("read", "write"):
        return ""
    return "contents" if name is None else name


def call_it(holder: object, name: str | None, operation: str) -> str:
    """What a reader would call the thing."""
    kind = type(holder).__name__
    if name is None:
        return f"the {kind}" if holder is not None else ""
    return name if kind in ("dict", "cell") else f"{kind}.{name}"


class Arrivals:
    """At which places the threads of a run have been so far."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[int, Place]] = Counter()
        self.last: dict[int, tuple[int, Place, int]] = {}  # position, place and occurrence
        self._paths: tuple[str, ...] = ()

    def path(self, index: int) -> str:
        if index >= len(self._paths):
            self._paths = runs.thread_paths()
        return self._paths[index]

    def index(self, path: str) -> int | None:
        """Of the thread with this path, if it has been started."""
        if path not in self._paths:
            self._paths = runs.thread_paths()
        return self._paths.index(path) if path in self._paths else None

    def come(self, index: int, position: int, place: Place) -> int:
        self.path(index)  # after the run it could no longer be asked
        self.counts[index, place] += 1
        occurrence = self.counts[index, place]
        self.last[index] = position, place, occurrence
        return occurrence


@dataclass(slots=True)
class Trail:
    """An observer that keeps everything; values only if they are wanted."""

    with_values: bool = True
    checks: Checks | None = None  # counts places where threads can be switched, if that is wanted
    events: list[Event] = field(default_factory=list)
    _arrivals: Arrivals = field(default_factory=Arrivals)
    _current: dict[int, Event] = field(default_factory=dict)  # by thread
    _written: tuple[Event, object, str | None] | None = None
    _things: dict[tuple[int, str | None], int] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)  # of things, by the variables they are in
    _kept: dict[int, object] = field(default_factory=dict)
    _tasks: dict[int, str] = field(default_factory=dict)
    _clock: int = 0

    def begin(self) -> Callable[[], Any]:
        """For a runner's `observed`."""
        if self.checks is not None:
            self.checks.start()
        _core.explore_observe(self)
        return self.finish

    def finish(self) -> list[list[Any]]:
        self._settle()
        if self.checks is not None:
            self.checks.stop()
        return [list(astuple(event)) for event in self.events]

    def __call__(
        self,
        does: bool,
        index: int,
        position: int,
        operation: int,
        holder: object,
        name: str | None,
    ) -> None:
        self._settle()
        self._clock += 1
        if does:
            self._do(index, position, holder, name)
        else:
            self._come(index, position, _core.OPERATIONS[operation], holder, name)

    def _come(
        self, index: int, position: int, operation: str, holder: object, name: str | None
    ) -> None:
        frame = caller(2)
        place = place_of(frame, operation, name_of(holder, name, operation))
        user = where(frame)[0]
        event = Event(
            self._arrivals.path(index),
            index,
            position,
            place,
            self._arrivals.come(index, position, place),
            user.f_code.co_filename if user is not None else "",
            (user.f_lineno or 0) if user is not None else 0,
            self._call_it(holder, name, operation),
            self._thing(holder, name),
            called_by(frame, user),
            self._clock,
        )
        event.task = self._task()
        if self.checks is not None:
            event.checks, event.in_call = self.checks.at(frame)
        self.events.append(event)
        self._current[index] = event

    def _task(self) -> str:
        """Tasks are numbered for each coroutine: their own names differ from run to run."""
        asyncio = sys.modules.get("asyncio")
        if asyncio is None or asyncio._get_running_loop() is None:
            return ""
        task = asyncio.current_task()
        if task is None:
            return ""
        if id(task) not in self._tasks:
            name = getattr(task.get_coro(), "__qualname__", "task")
            number = sum(each.startswith(f"{name}#") for each in self._tasks.values()) + 1
            self._tasks[id(task)] = f"{name}#{number}"
        return self._tasks[id(task)]

    def _call_it(self, holder: object, name: str | None, operation: str) -> str:
        kind = type(holder).__name__
        if name is None and kind in _LOCKS and id(holder) not in self._kept:
            self._kept[id(holder)] = holder  # so that no other comes to lie where it was
            alike = sum(type(each).__name__ == kind for each in self._kept.values())
            self._names.setdefault(id(holder), f"{kind} {alike}")
        known = self._names.get(id(holder)) if name is None else None
        return known or call_it(holder, name, operation)

    def _thing(self, holder: object, name: str | None) -> int:
        if holder is None:
            return 0
        return self._things.setdefault((id(holder), name), len(self._things) + 1)

    def _do(self, index: int, position: int, holder: object, name: str | None) -> None:
        event = self._current.get(index)
        if event is None or event.position != position:
            return
        event.order = self._clock
        if self.with_values and event.place.operation in ("read", "write"):
            value = value_of(holder, name)
            event.before = show(value)
            if name is not None and type(value).__name__ in _NAMED:
                self._names[id(value)] = event.what
            if event.writes:
                self._written = event, holder, name

    def _settle(self) -> None:
        """Whatever was written last has been written by now."""
        if self._written is not None:
            event, holder, name = self._written
            self._written = None
            event.after = show(value_of(holder, name))


def events_of(said: list[list[Any]]) -> list[Event]:
    """From what `finish` made, which may have come from another process."""
    events = []
    for thread, index, position, place, *rest in said:
        events.append(Event(thread, index, position, Place(*place), *rest))
    return events
