"""A reference for the race detector: slow, complete, and simple enough to be seen to be right.

Owns the events of an execution, which accesses conflict, and `races(events)`: every pair of
accesses that conflict and that nothing orders. Events are numbered in each thread; a thread's
clock has, for every other, the number of its last event that is known. Each access is compared
with every access to the same object before it. No epochs, nothing is forgotten, no name is ever
used again: whoever makes the events gives every thread, object and lock a name of its own, for
good.

What orders two events (happens before):
- a thread does one after the other;
- `Start` comes before all that the new thread does, all that a thread does before the `Join` by
  which another learns of its end;
- `Release` of an object comes before every later `Acquire` of it, by any thread. Locks, events,
  semaphores, queues and futures are all like this: who sets, puts or releases leaves what it
  knows, who waits, gets or acquires takes it along;
- `PUT` into a container comes before every later `TAKE` from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import Enum


class Mode(Enum):
    """What an access does to its variable. The names are those that the core gives."""

    READ = "read"
    WRITE = "write"
    ITEM_READ = "item read"
    ITEM_WRITE = "item write"
    ITEM_UPDATE = "item update"
    ITEM_TEST = "item test"
    ITEM_DEFAULT = "item default"
    UPDATE = "update"
    PUT = "put"
    TAKE = "take"
    WHOLE_READ = "whole read"
    WHOLE_WRITE = "whole write"


Thread = Hashable
Object = Hashable


@dataclass(frozen=True)
class Start:
    thread: Thread
    child: Thread


@dataclass(frozen=True)
class Join:
    thread: Thread
    child: Thread


@dataclass(frozen=True)
class Acquire:
    thread: Thread
    object: Object


@dataclass(frozen=True)
class Release:
    thread: Thread
    object: Object


@dataclass(frozen=True)
class Access:
    """`what` is the name of an attribute or variable, the key of an item, None for the whole."""

    thread: Thread
    object: Object
    what: Hashable
    mode: Mode
    line: int = 0


Event = Start | Join | Acquire | Release | Access


@dataclass(frozen=True)
class Race:
    first: Access
    second: Access

    @property
    def variable(self) -> tuple[Object, Hashable]:
        """What is raced on: the item if both mean the same one, else the whole container."""
        same = self.first.what == self.second.what
        return self.first.object, self.first.what if same else None


# Which modes conflict at the same name or key, and which do whatever the key: one line for each
# mode, the other one in any order. Reads and writes of variables never meet those of contents.

_READS = frozenset([Mode.ITEM_READ, Mode.ITEM_TEST])
_AT_ONE_KEY = {
    Mode.WRITE: frozenset([Mode.READ, Mode.WRITE]),
    Mode.ITEM_WRITE: _READS | {Mode.ITEM_WRITE, Mode.ITEM_UPDATE, Mode.ITEM_DEFAULT},
    Mode.ITEM_UPDATE: frozenset([Mode.ITEM_TEST]),
}
_CHANGES_OF_ITEMS = frozenset([Mode.ITEM_WRITE, Mode.ITEM_UPDATE, Mode.ITEM_DEFAULT])
_STEPS = frozenset([Mode.UPDATE, Mode.PUT, Mode.TAKE])  # atomic, and in either order the same
_OF_THE_WHOLE = {
    Mode.WHOLE_READ: _CHANGES_OF_ITEMS | _STEPS,
    Mode.WHOLE_WRITE: _CHANGES_OF_ITEMS | _STEPS | _READS | {Mode.WHOLE_READ, Mode.WHOLE_WRITE},
}


# Modes of one variable or item, as opposed to those of a container as a whole.
OF_ONE = frozenset(Mode) - _STEPS - {Mode.WHOLE_READ, Mode.WHOLE_WRITE}


def conflict(one: Access, other: Access) -> bool:
    """Would their order matter? Says nothing of threads, nor of when."""
    if one.object != other.object:
        return False
    same = one.what == other.what
    return any(
        (same and right.mode in _AT_ONE_KEY.get(left.mode, ()))
        or right.mode in _OF_THE_WHOLE.get(left.mode, ())
        for left, right in ((one, other), (other, one))
    )


class Clock(dict[Thread, int]):
    """How many events of each thread are known to have happened."""

    def learn(self, other: Clock) -> None:
        for thread, count in other.items():
            self[thread] = max(self.get(thread, 0), count)


class _Oracle:
    def __init__(self) -> None:
        self.threads: dict[Thread, Clock] = {}
        self.released: dict[Object, Clock] = {}  # what was left there, to be taken along
        self.put: dict[Object, Clock] = {}
        self.accesses: dict[Object, list[tuple[Access, int]]] = {}  # numbered in their threads
        self.races: list[Race] = []

    def happen(self, event: Event) -> None:
        clock = self.threads.setdefault(event.thread, Clock())
        clock[event.thread] = clock.get(event.thread, 0) + 1
        match event:
            case Start():
                self.threads.setdefault(event.child, Clock()).learn(clock)
            case Join():
                clock.learn(self.threads.get(event.child, Clock()))
            case Acquire():
                clock.learn(self.released.get(event.object, Clock()))
            case Release():
                self.released.setdefault(event.object, Clock()).learn(clock)
            case Access():
                self._access(event, clock)

    def _access(self, access: Access, clock: Clock) -> None:
        if access.mode is Mode.TAKE:
            clock.learn(self.put.get(access.object, Clock()))
        history = self.accesses.setdefault(access.object, [])
        for earlier, number in history:
            is_known = clock.get(earlier.thread, 0) >= number
            if not is_known and conflict(earlier, access):
                self.races.append(Race(earlier, access))
        history.append((access, clock[access.thread]))
        if access.mode is Mode.PUT:
            self.put.setdefault(access.object, Clock()).learn(clock)


def races(events: Iterable[Event]) -> list[Race]:
    """All pairs of accesses that race, in the order in which the second ones happened."""
    oracle = _Oracle()
    for event in events:
        oracle.happen(event)
    return oracle.races


def racy(events: Iterable[Event]) -> set[tuple[Object, Hashable]]:
    """The variables that are raced on: this is what a detector must agree with."""
    return {race.variable for race in races(events)}
