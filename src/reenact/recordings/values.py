"""Decodes the inputs stream: what calls to the outside returned, raised or filled.

`streams.py` calls it. Values become plain Python objects; what is no plain value (an exception, a
record such as os.stat_result) becomes a description, and nothing named in a recording is looked
up or called. Of one entry only so many bytes and items are kept: what is longer is read over
and shortened (`Cut`), so that no recording can fill the memory.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from reenact.events import Call
from reenact.recordings.cursor import Cursor

DEEPEST = 64
KEPT = 1 << 20
LONGEST_INTEGER = 1024
LONGEST_NAME = 128
EXCEPTION_PARTS = 4  # arguments, two file names, attributes

PLACES = ("socket", "null", "directory", "file")
CONTENTS = ("own", "empty", "hole", "kept", "live")


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of something longer: `size` is what there was, in bytes or items."""

    value: Any
    size: int


@dataclass(frozen=True, slots=True)
class Record:
    """An instance of a known type of the standard library, by name."""

    name: str
    fields: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """What was opened; of a regular file its number, what it held, and where that is kept."""

    place: str
    file: int = 0
    contents: str = ""
    argument: int = 0


@dataclass(frozen=True, slots=True)
class Input:
    """One entry. `kind` is "begins" (the call began to wait, and has its outcome later),
    "returned", "raised" (`value` is a Record of the exception), "performed" (the outcome was not
    kept), "signalled" (a handler ran inside the call; `value` is the signal's number) or "called
    back" (the call called the program from inside, with `value`)."""

    call: Call
    kind: str
    value: Any = None
    filled: Any = None  # bytes that were put into the caller's buffer
    opened: Opened | None = None


class Entries:
    """Reads entries one after the other; EOFError if one is cut off, ValueError if it is none."""

    def __init__(self, calls: dict[int, Call], kept: int) -> None:
        self._calls = calls
        self._kept = kept

    def read(self, cursor: Cursor) -> Input:
        head = cursor.varint()
        call = self._calls.get(head >> 1) or Call(head >> 1, f"call {head >> 1}")
        if head & 1:
            return Input(call, "begins")
        return self._outcome(call, _Values(cursor, self._kept))

    def _outcome(self, call: Call, values: _Values) -> Input:
        tag = values.cursor.varint()
        if tag == _EXCEPTION:
            return Input(call, "raised", values.exception())
        if tag == _PERFORMED:
            return Input(call, "performed")
        if tag == _SIGNALLED:
            return Input(call, "signalled", values.cursor.varint())
        if tag == _CALLED_BACK:
            return Input(call, "called back", values.value())
        if tag == _FILLED:
            filled = values.bytes()
            return Input(call, "returned", values.value(), filled)
        value = values.tagged(tag, DEEPEST)
        opened = _opened(values.cursor) if call.opens and type(value) is int else None
        return Input(call, "returned", value, opened=opened)


def _opened(cursor: Cursor) -> Opened:
    place = _name(PLACES, cursor.varint(), "place")
    if place != "file":
        return Opened(place)
    number, contents = cursor.varint(), _name(CONTENTS, cursor.varint(), "kind of contents")
    return Opened(place, number, contents, cursor.varint())


def _name(names: tuple[str, ...], number: int, what: str) -> str:
    if number >= len(names):
        raise ValueError(f"there is no {what} {number}")
    return names[number]


_FLOAT = struct.Struct("<d")
_EXCEPTION, _FILLED, _PERFORMED, _SIGNALLED, _CALLED_BACK = 9, 10, 11, 16, 18


class _Values:
    """The values of one entry, which share what may be kept."""

    def __init__(self, cursor: Cursor, kept: int) -> None:
        self.cursor = cursor
        self._left = kept
        self._readers = {
            3: cursor.zigzag,
            4: self._float,
            5: self.bytes,
            6: self._text,
            14: self._long,
            15: self._bytearray,
        }
        self._containers = {
            7: self._tuple,
            8: self._items,
            12: self._record,
            13: self._dict,
            17: self._set,
        }

    def value(self, depth: int = DEEPEST) -> Any:
        return self.tagged(self.cursor.varint(), depth)

    def tagged(self, tag: int, depth: int) -> Any:
        if tag < 3:
            return (None, False, True)[tag]
        if tag in self._readers:
            return self._readers[tag]()
        if tag not in self._containers:
            raise ValueError(f"there is no value {tag}")
        if depth == 0:
            raise ValueError(f"values are nested deeper than {DEEPEST}")
        return self._containers[tag](depth - 1)

    def exception(self) -> Record:
        name, parts = self._short(LONGEST_NAME), self.value()
        if not isinstance(parts, Cut):
            parts = Cut(parts, len(parts) if isinstance(parts, tuple) else 0)
        if parts.size != EXCEPTION_PARTS or not isinstance(parts.value, tuple | list):
            raise ValueError(f"an exception does not have {EXCEPTION_PARTS} parts")
        missing = EXCEPTION_PARTS - len(parts.value)
        return Record(name, (*parts.value, *(None,) * missing))

    def bytes(self) -> bytes | Cut:
        size = self.cursor.varint()
        kept, room = [], min(size, self._left)
        self._left -= room
        for piece in self.cursor.pieces(size):
            if room:
                kept.append(piece[:room])
                room -= len(kept[-1])
        value = b"".join(kept)
        return value if len(value) == size else Cut(value, size)

    def _bytearray(self) -> Any:
        value = self.bytes()
        return value if isinstance(value, Cut) else bytearray(value)

    def _text(self) -> Any:
        value = self.bytes()
        if isinstance(value, Cut):
            return Cut(value.value.decode("utf-8", "ignore"), value.size)
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise ValueError("a text is not UTF-8") from None

    def _short(self, limit: int) -> str:
        return self.cursor.text(self.cursor.varint(), limit)

    def _float(self) -> float:
        data = b"".join(self.cursor.pieces(_FLOAT.size))
        if len(data) < _FLOAT.size:
            raise EOFError
        number: float = _FLOAT.unpack(data)[0]
        return number

    def _long(self) -> Any:
        value = self.bytes()
        if isinstance(value, Cut) or len(value) > LONGEST_INTEGER:
            return value if isinstance(value, Cut) else Cut(value, len(value))
        return int.from_bytes(value, "little", signed=True)

    def _items(self, depth: int) -> Any:
        items, count = self._read_items(self.cursor.varint(), depth)
        return items if len(items) == count else Cut(items, count)

    def _read_items(self, count: int, depth: int) -> tuple[list[Any], int]:
        items = []
        for _ in range(count):
            item = self.value(depth)
            if self._left > 0:
                self._left -= 1
                items.append(item)
        return items, count

    def _tuple(self, depth: int) -> Any:
        items = self._items(depth)
        return items if isinstance(items, Cut) else tuple(items)

    def _set(self, depth: int) -> Any:
        """As a frozenset if its items can be in one, as they were in the program."""
        items = self._items(depth)
        try:
            return items if isinstance(items, Cut) else frozenset(items)
        except TypeError:
            raise ValueError("a set has an item that cannot be in one") from None

    def _record(self, depth: int) -> Record:
        name, items = self._short(LONGEST_NAME), self._items(depth)
        return Record(name, tuple(items.value if isinstance(items, Cut) else items))

    def _dict(self, depth: int) -> Any:
        """As pairs: what is damaged may have keys that no dictionary can have."""
        count = self.cursor.varint()
        items, _ = self._read_items(2 * count, depth)
        pairs = list(zip(items[::2], items[1::2], strict=False))
        return Pairs(pairs) if len(pairs) == count else Cut(Pairs(pairs), count)


class Pairs(list[tuple[Any, Any]]):
    """A dictionary, as the list of its keys and values."""
