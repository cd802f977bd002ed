"""What an analysis of a run finds: races, and locks that may one day be waited for in vain.

Plain facts with their names, advice and label already put into words. `build.py` makes them of the
raw findings of the core; `text.py`, `report.py` and `sarif.py` show them. Files are given relative
to the root of the analysis, if they lie in it.

A finding's key is what it is known by in a baseline and in code-scanning services. It is made of
files, functions and the text of lines, not of their numbers: edits elsewhere do not change it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from reenact.findings import Line

Kind = Literal["race", "lock-order", "held-while-waiting", "never-released"]
Level = Literal["error", "warning"]
Label = Literal["reachable with the GIL", "free-threaded only", "unknown"]
Stack = tuple[Line, ...]  # innermost first
NOWHERE = Line("", 0, "")


@dataclass(frozen=True, slots=True)
class Thread:
    """`number` is 0 for the main thread, then by order of start."""

    number: int
    name: str = ""

    def __str__(self) -> str:
        return f"thread {self.number}"


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that a thread holds; `where` it was taken, if that is known."""

    number: int
    kind: str
    where: Line | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """A thread reads or writes something. `pair` is not 0 in an augmented assignment."""

    thread: Thread
    mode: str
    line: int
    column: int
    pair: int
    stack: Stack
    locks: tuple[Lock, ...] = ()
    has_ended: bool = False  # the thread had, before the other access was made

    @property
    def place(self) -> Line:
        """The line of the access itself: that of the frame may be another of the statement."""
        inner = self.stack[0] if self.stack else NOWHERE
        return Line(inner.file, self.line or inner.line, inner.function)


@dataclass(frozen=True, slots=True)
class Variable:
    """What is raced on. `name` is the attribute, the variable or the key; `type` that of the
    object, of a global the module's name."""

    kind: Literal["attribute", "item", "contents", "global", "closure"]
    name: str
    type: str
    address: int
    creator: Thread | None = None
    created: Stack = ()


@dataclass(frozen=True, slots=True)
class Called:
    """Names of a variable: a `short` one, which stays the same, and all that is known of it."""

    short: str
    full: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What all findings have."""

    kind: ClassVar[Kind]
    level: ClassVar[Level]
    key: str
    advice: str

    @property
    def title(self) -> str:
        """One line that says it all."""
        raise NotImplementedError

    @property
    def subject(self) -> str:
        """What configuration can name it by."""
        return ""

    @property
    def places(self) -> tuple[Line, ...]:
        """Where it happened; the first is where to look first."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Race(Finding):
    """Two accesses that nothing orders; `first` is the earlier in the run. `count` is how often."""

    kind: ClassVar[Kind] = "race"
    level: ClassVar[Level] = "error"
    variable: Variable
    called: Called
    first: Access
    second: Access
    label: Label
    count: int = 1

    @property
    def title(self) -> str:
        return f"race on {self.called.full}"

    @property
    def subject(self) -> str:
        return self.called.short

    @property
    def places(self) -> tuple[Line, ...]:
        """The later access first: it is the one that came without being ordered."""
        return self.second.place, self.first.place


@dataclass(frozen=True, slots=True)
class Held:
    """A lock, and the stack where it was taken; `where` of the lock is the place in a word."""

    lock: Lock
    stack: Stack


@dataclass(frozen=True, slots=True)
class Taking:
    """A thread holds one lock and takes another: an edge of the order of locks."""

    thread: Thread
    held: Held
    taken: Held
    count: int = 1


@dataclass(frozen=True, slots=True)
class LockOrder(Finding):
    """Locks that are taken in a cycle: at the wrong moment, each thread waits for the next."""

    kind: ClassVar[Kind] = "lock-order"
    level: ClassVar[Level] = "error"
    takings: tuple[Taking, ...]

    @property
    def title(self) -> str:
        return f"{len(self.takings)} locks are taken in a cycle: at the wrong moment, a deadlock"

    @property
    def places(self) -> tuple[Line, ...]:
        return tuple(_where(each.taken) for each in self.takings)


@dataclass(frozen=True, slots=True)
class HeldWaiting(Finding):
    """A thread waits in `what` for something else while it holds locks. `waker` is the thread that
    ended the wait, and `needed` the numbers of those locks that it takes as well."""

    kind: ClassVar[Kind] = "held-while-waiting"
    level: ClassVar[Level] = "warning"
    thread: Thread
    what: str
    place: Line
    stack: Stack
    held: tuple[Held, ...]
    is_timed: bool = False
    waker: Thread | None = None
    needed: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        locks = "a lock" if len(self.held) == 1 else f"{len(self.held)} locks"
        return f"{self.thread} waits in {self.what} while it holds {locks}"

    @property
    def places(self) -> tuple[Line, ...]:
        return self.place, *(_where(each) for each in self.held)


@dataclass(frozen=True, slots=True)
class Unreleased(Finding):
    """A lock that was taken and is held at the end, or by a thread that has ended; `count` of them
    were taken at that place."""

    kind: ClassVar[Kind] = "never-released"
    level: ClassVar[Level] = "warning"
    thread: Thread
    held: Held
    count: int = 1

    @property
    def title(self) -> str:
        return f"a lock that {self.thread} took was never released"

    @property
    def places(self) -> tuple[Line, ...]:
        return (_where(self.held),)


def _where(held: Held) -> Line:
    return held.lock.where or NOWHERE


def key_of(kind: Kind, name: str, places: Iterable[tuple[Line, str]]) -> str:
    """Of places with the texts of their lines, in whatever order they come."""
    sites = sorted(f"{place.file}\0{place.function}\0{text}" for place, text in places)
    return hashlib.sha256("\0".join([kind, name, *sites]).encode("utf-8", "replace")).hexdigest()[
        :16
    ]
