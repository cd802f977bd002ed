"""A model of `_core/flow.c`: executions of threads without a program, and what is noted of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from reenact.recordings.lanes import INITIAL, Interval

Kind = Literal["read", "write", "update"]
Point = tuple[int, int]


class Access(NamedTuple):
    """An access that replaces what is there, or reads it, or both."""

    thread: int
    location: int
    kind: Kind

    @property
    def reads(self) -> bool:
        return self.kind != "write"

    @property
    def writes(self) -> bool:
        return self.kind != "read"


@dataclass
class _Location:
    number: int = 0
    write: Point = INITIAL
    run: Point = INITIAL
    only: Interval | None = None  # while it is one thread's


@dataclass
class Recorder:
    """`room` is how many intervals a thread can have under way."""

    room: int = 1024
    intervals: list[Interval] = field(default_factory=list)
    _locations: dict[int, _Location] = field(default_factory=dict)
    _open: dict[tuple[int, int], tuple[Interval, Point]] = field(default_factory=dict)
    _hint: int = 0
    _shared: int = 0

    def note(self, access: Access, position: int) -> None:
        location = self._locations.setdefault(access.location, _Location())
        now = access.thread, position
        if location.number == 0:
            if location.only is None or location.only.thread == access.thread:
                self._own(location, access, now)
                return
            self._shared += 1
            location.number = self._shared
            self.intervals.append(location.only._replace(location=location.number))
        if location.run[0] != access.thread:
            location.run = now
        self._go_on(location, access, now)

    def _own(self, location: _Location, access: Access, now: Point) -> None:
        if location.only is None:
            location.run = now
            location.only = self._begun(location, access, now)
        location.only = _extended(location.only, access, now[1])
        location.write = now if access.writes else location.write

    def _go_on(self, location: _Location, access: Access, now: Point) -> None:
        place = access.thread, location.number % self.room
        interval, seen = self._open.get(place, (None, INITIAL))
        is_its = interval is not None and interval.location == location.number
        is_whole = interval is not None and location.run[1] <= interval.first
        if not (is_its and seen == location.write and (is_whole or not access.writes)):
            self._end(place)
            interval = self._begun(location, access, now)
        assert interval is not None
        location.write = now if access.writes else location.write
        self._open[place] = _extended(interval, access, now[1]), location.write

    def _begun(self, location: _Location, access: Access, now: Point) -> Interval:
        self._hint += 1
        source = location.write if access.reads else None
        return Interval(now[0], location.number, now[1], now[1], None, source, self._hint)

    def _end(self, place: tuple[int, int]) -> None:
        if place in self._open:
            self.intervals.append(self._open.pop(place)[0])

    def close(self) -> list[Interval]:
        for place in list(self._open):
            self._end(place)
        return self.intervals


def _extended(interval: Interval, access: Access, position: int) -> Interval:
    write = position if access.writes else interval.write
    return interval._replace(last=position, write=write)


class Execution(NamedTuple):
    """Accesses in the order in which they were made; each is at the next position of its thread."""

    accesses: list[Access]

    def points(self) -> list[Point]:
        positions: dict[int, int] = {}
        points = []
        for access in self.accesses:
            positions[access.thread] = positions.get(access.thread, 0) + 1
            points.append((access.thread, positions[access.thread]))
        return points

    def record(self, room: int = 1024) -> list[Interval]:
        recorder = Recorder(room)
        for access, (_, position) in zip(self.accesses, self.points(), strict=True):
            recorder.note(access, position)
        return recorder.close()


def seen(accesses: dict[Point, Access], schedule: list[Point]) -> dict[Point, Point]:
    """Of each read the write that it sees."""
    writes: dict[int, Point] = {}
    found = {}
    for point in schedule:
        access = accesses[point]
        if access.reads:
            found[point] = writes.get(access.location, INITIAL)
        if access.writes:
            writes[access.location] = point
    return found
