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
ACCESS = 13  # of which nothing is known but what comes before it

_CHUNK = struct.Struct("<III")
_OTHERS = (COLLECT, SIGNAL, CLOSE, FINAL, END)


class Item(NamedTuple):
    """Something that a thread did at a position. `after` are pairs of a thread and a position of
    it, None for its end, that come before.

    By kind, `first` and `second` are: of an operation or a wait its site, and its object's number
    shifted by one, with a bit for threads; of a clock its number and what it said; of a
    collection its generation, of a signal its number; of `final` a thread, and its position; of an
    end the thread. `data` are the bytes of an input."""

    position: int
    kind: int
    first: int = 0
    second: int = 0
    data: bytes = b""
    after: tuple[tuple[int, int | None], ...] = ()


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


def decode(lane: bytes, calls: dict[int, Call]) -> Iterator[Item]:
    """The items of one lane; EOFError if the last of them is cut off."""
    cursor = _cursor(lane)
    entries = Entries(calls, 0)
    position = 0
    known: dict[int, int] = {}
    clocks: dict[int, int] = {}
    after: list[tuple[int, int | None]] = []
    while cursor.more():
        head = cursor.varint()
        if after and head >> 3:  # nothing but an access was there
            yield Item(position, ACCESS, after=tuple(after))
            after.clear()
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
        elif kind == OTHER:
            kind = _other(cursor.varint())
            first = cursor.varint()
            second = cursor.varint() if kind == FINAL else 0
        yield Item(position, kind, first, second, data, tuple(after))
        after.clear()
    if after:
        yield Item(position, ACCESS, after=tuple(after))


def input_of(item: Item, calls: dict[int, Call], kept: int) -> Input:
    """What an item of the kind `input` came to, with no more than so many bytes of it."""
    return Entries(calls, kept).read(_cursor(item.data))


def _cursor(data: bytes) -> Cursor:
    return Cursor(Payload(_Bytes(data), len(data)))


def _other(number: int) -> int:
    if number >= len(_OTHERS):
        raise ValueError(f"there is no entry of kind {number} in a lane")
    return _OTHERS[number]


class _Bytes:
    """Bytes at hand, read as those of a file are."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def read(self, size: int, /) -> bytes:
        piece = self._data[self._at : self._at + size]
        self._at += len(piece)
        return piece
