"""The writes to one location, in an order that shows every read the write that it saw.

`_core/flow.c` says what an interval of accesses is, and why any order will do in which intervals
that write come one after the other, the reads of a write come before the next interval that writes,
and an interval that begins with a read follows the write that it saw at once. So intervals that
write make *chains*, each bound to the one that it read from; which chain comes first is free.
`solve.py` chooses, by the order in which they are here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from reenact.engine.linear import Unordered
from reenact.recordings.lanes import INITIAL, Interval

Point = tuple[int, int]  # a thread, and a position of it


class Version(NamedTuple):
    """An interval that writes, None for what was there before; and who reads what it wrote."""

    interval: Interval | None
    readers: Sequence[Interval]

    def ends(self) -> Iterator[Point]:
        """What comes before the next version."""
        if self.interval is not None:
            yield self.interval.thread, self.interval.last
        for reader in self.readers:
            yield reader.thread, reader.last


Chain = list[Version]


class _Accesses:
    """The intervals of a location: those that write and those that only read, by their writes."""

    def __init__(self, location: int, intervals: Sequence[Interval]) -> None:
        self.location = location
        self.readers: dict[Point, list[Interval]] = {}
        self.writers: dict[Point, Interval] = {}
        self.following: dict[Point, Point] = {}
        for interval in intervals:
            if interval.write is None:
                self.readers.setdefault(interval.source or INITIAL, []).append(interval)
            else:
                self._add_writer(interval, (interval.thread, interval.write))
        self._add_missing()

    def _add_writer(self, interval: Interval, point: Point) -> None:
        if point in self.writers or interval.source in self.following:
            raise Unordered(f"two writes to location {self.location} take one place")
        self.writers[point] = interval
        if interval.source is not None:
            self.following[interval.source] = point

    def _add_missing(self) -> None:
        """Writes of which nothing is known but that they were read: their threads were killed."""
        hints = {source: self.writers[point].hint for source, point in self.following.items()}
        hints |= {source: found[0].hint for source, found in self.readers.items()}
        for point, hint in hints.items():
            if point != INITIAL and point not in self.writers:
                thread, at = point
                self.writers[point] = Interval(thread, self.location, at, at, at, None, hint)

    def chain(self, point: Point) -> Chain:
        chain = [Version(self.writers.get(point), self.readers.get(point, ()))]
        while point in self.following:
            point = self.following[point]
            chain.append(Version(self.writers[point], self.readers.get(point, ())))
        return chain


def chains_of(location: int, intervals: Sequence[Interval]) -> list[Chain]:
    """By their hints; the first is what begins before any write."""
    accesses = _Accesses(location, intervals)
    chains = [accesses.chain(INITIAL)]
    for interval in sorted(accesses.writers.values(), key=attrgetter("hint")):
        if interval.source is None and interval.write is not None:
            chains.append(accesses.chain((interval.thread, interval.write)))
    if sum(map(len, chains)) != len(accesses.writers) + 1:
        raise Unordered(f"writes to location {location} follow each other in a ring")
    return chains
