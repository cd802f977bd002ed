"""Decodes the lanes of a parallel run: what each thread did, in the order in which it did it.

`engine/linear.py` puts them into one order. An entry says at which position of its thread it
happened, and what had to happen before; `_core/lanes.c` writes them. What is read may be a
stranger's: ValueError or EOFError if it makes no sense.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from reenact.events import Call
from reenact.recordings.cursor import Cursor, Payload
from reenact.recordings.format import unzigzag
from reenact.recordings.values import Entries, Input

OPERATION, AFTER, GONE, WAIT, YIELD, INPUT, CLOCK, OTHER = range(8)
COLLECT, SIGNAL, CLOSE, FINAL, END = range(8, 13)  # what an entry of the kind `other` is
BETWEEN = 14  # a place that is no point, where the thread was left: ways.py puts it there
ACCESS = 13  # of which nothing is known but what comes before it
FLOW = 5  # of the kinds of `other` that are left, intervals: with any of three bits
HINT = FLOW + 8
_HAS_SOURCE, _WRITES, _OF_OTHER = 1, 2, 4
INITIAL = (-1, -1)  # the source of what was read before anybody had written

SWEEP = 15  # a collection that the program asked for begins
# As in `enum Death` of the core; engine/deaths.py puts the last there, the others are in lanes.
DIED, SWEPT, FOUND, CALLED, FINALIZED, RELEASED = DEATHS = range(16, 22)
_TIMES = 13  # of the clocks, that which says when something was
_CHUNK = struct.Struct("<III")
_OTHERS = (COLLECT, SIGNAL, CLOSE, FINAL, END)


class Hint(NamedTuple):
    """What seems to come before: a thread and a position of it. There it was left before its next
    point, at an instruction: the number of its code, 0 if it is not known, and its offset."""

    thread: int
    position: int
    code: int = 0
    offset: int = 0


class Item(NamedTuple):
    """Something that a thread did at a position. `after` are pairs of a thread and a position of
    it, None for its end, that come before, and `hints` those that seem to. `time`, if it is known,
    says when it happened, compared with others.

    By kind, `first` and `second` are: of an operation or a wait its site, and its object's number
    shifted by one, with a bit for threads; of a place in between its code and offset; of a clock
    its number and what it said; of a collection its generation, of a signal its number; of `final`
    a thread, and its position; of an end the thread; of a death the thread that made a weak
    reference, and how many it had made before. `data` are the bytes of an input."""

    position: int
    kind: int
    first: int = 0
    second: int = 0
    data: bytes = b""
    after: tuple[tuple[int, int | None], ...] = ()
    hints: tuple[Hint, ...] = ()
    time: int = 0


class Interval(NamedTuple):
    """Accesses of a thread to a location, from the first position to the last, and the position of
    the last write if there is one. `source`, if the first of them is a read, is the thread and the
    position of the write that it saw. `hint` says when it began, compared with others."""

    thread: int
    location: int
    first: int
    last: int
    write: int | None
    source: tuple[int, int] | None
    hint: int


def split(stream: bytes) -> dict[int, bytes]:
    """The bytes of each thread's lane, put together of chunks; the last of them may be cut off."""
    parts: dict[int, list[bytes]] = {}
    at = 0
    while at + _CHUNK.size <= len(stream):
        thread, size, used = _CHUNK.unpack_from(stream, at)
        if size < _CHUNK.size or used > size:
            raise ValueError(f"byte {at}: a chunk of {size} bytes with {used} in use")
        parts.setdefault(thread, []).append(stream[at + _CHUNK.size : at + used])
        at += size
    return {thread: b"".join(pieces) for thread, pieces in parts.items()}


def chunk(thread: int, lane: bytes) -> bytes:
    """A lane as one chunk."""
    size = _CHUNK.size + len(lane)
    return _CHUNK.pack(thread, size, size) + lane


def decode(
    lane: bytes, calls: dict[int, Call], thread: int = 0, intervals: list[Interval] | None = None
) -> Iterator[Item]:
    """The items of one lane; EOFError if the last of them is cut off. Intervals of accesses are
    added to those given."""
    cursor = _cursor(lane)
    entries = Entries(calls, 0)
    position = time = 0
    known: dict[int, int] = {}
    clocks: dict[int, int] = {}
    after: list[tuple[int, int | None]] = []
    hints: list[Hint] = []
    flow = _Flow(thread)
    while cursor.more():
        head = cursor.varint()
        if (after or hints) and head >> 3:  # nothing but an access was there
            yield Item(position, ACCESS, after=tuple(after), hints=tuple(hints))
            after.clear()
            hints.clear()
        position += head >> 3
        kind = head & 7
        first = second = 0
        data = b""
        if kind in (OPERATION, WAIT):
            first, second = cursor.varint(), cursor.varint()
        elif kind == AFTER:
            other = cursor.varint()
            known[other] = known.get(other, -1) + cursor.varint()
            after.append((other, known[other]))
            continue
        elif kind == GONE:
            after.append((cursor.varint(), None))
            continue
        elif kind == INPUT:
            start = cursor.offset
            entries.read(cursor)
            data = lane[start : cursor.offset]
        elif kind == CLOCK:
            first = cursor.varint()
            clocks[first] = second = clocks.get(first, 0) + unzigzag(cursor.varint())
            if first == _TIMES:
                time = second
                continue
        elif kind == OTHER:
            number = cursor.varint()
            if FLOW <= number < FLOW + 8:
                interval = flow.read(cursor, number - FLOW, position)
                if intervals is not None:
                    intervals.append(interval)
                continue
            if number == HINT:
                hints.append(_hint(cursor))
                continue
            kind = _other(number)
            first = cursor.varint()
            second = cursor.varint() if kind == FINAL or kind in DEATHS else 0
        yield Item(position, kind, first, second, data, tuple(after), tuple(hints), time)
        after.clear()
        hints.clear()
        time = 0
    if after or hints:
        yield Item(position, ACCESS, after=tuple(after), hints=tuple(hints))


def input_of(item: Item, calls: dict[int, Call], kept: int) -> Input:
    """What an item of the kind `input` came to, with no more than so many bytes of it."""
    return Entries(calls, kept).read(_cursor(item.data))


def _cursor(data: bytes) -> Cursor:
    return Cursor(Payload(_Bytes(data), len(data)))


def _hint(cursor: Cursor) -> Hint:
    thread, position, code = cursor.varint(), cursor.varint(), cursor.varint()
    return Hint(thread, position, code, cursor.varint() if code else 0)


def _other(number: int) -> int:
    if HINT < number <= HINT + 1 + FINALIZED - SWEEP:
        return SWEEP + number - HINT - 1
    if number >= len(_OTHERS):
        raise ValueError(f"there is no entry of kind {number} in a lane")
    return _OTHERS[number]


class _Flow:
    """The intervals of a lane, some numbers of which are told as differences."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._hint = 0
        self._named: dict[int, int] = {}

    def read(self, cursor: Cursor, bits: int, position: int) -> Interval:
        location = cursor.varint()
        thread = cursor.varint() if bits & _OF_OTHER else self._thread
        last = cursor.varint() if bits & _OF_OTHER else position - cursor.varint()
        first = last - cursor.varint()
        write = last - cursor.varint() if bits & _WRITES else None
        if first < 0 or (write is not None and write < first):
            raise ValueError(f"accesses to location {location} begin at {first}, before its thread")
        source = self._source(cursor) if bits & _HAS_SOURCE else None
        self._hint += unzigzag(cursor.varint())
        return Interval(thread, location, first, last, write, source, self._hint)

    def _source(self, cursor: Cursor) -> tuple[int, int]:
        thread = cursor.varint() - 1
        if thread < 0:
            return INITIAL
        position = self._named.get(thread, -1) + unzigzag(cursor.varint())
        self._named[thread] = position
        return thread, position


class _Bytes:
    """Bytes at hand, read as those of a file are."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self, size: int, /) -> bytes:
        piece = self._data[self._at : self._at + size]
        self._at += len(piece)
        return piece
