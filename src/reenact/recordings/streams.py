"""The streams of a recording, decoded, each with an iterator of its own.

`reader.Recording` builds on this; the launcher opens one by itself to read what a replay left
behind, which has no header. Every iterator reads its stream anew, from the beginning, with
bounded memory. An entry cut off at the end is passed over if the run was killed or its log
stopped, and is damage otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from reenact.errors import RecordingError
from reenact.events import (
    GENERATIONS,
    NOTE_KINDS,
    SCHEDULE_KINDS,
    Names,
    Note,
    ScheduleEntry,
    name_of,
)
from reenact.recordings import definitions, format, outcome, state
from reenact.recordings.cursor import Cursor, Payload
from reenact.recordings.definitions import Definitions
from reenact.recordings.lanes import Interval, Item, decode, split
from reenact.recordings.members import (
    Extent,
    Members,
    Part,
    open_members,
    read_whole,
    stream_extent,
)
from reenact.recordings.operations import Operation, decode_operations
from reenact.recordings.outcome import Outcome, parse_outcome
from reenact.recordings.state import State, parse_state
from reenact.recordings.values import KEPT, Entries, Input

MOST_CLOCKS = 256
LONGEST_NOTE = 1 << 16
LANES_LIMIT = 1 << 30

_Entry = TypeVar("_Entry")


def core_names() -> Names:
    """The kinds as the C core numbers them; none of them where it cannot be loaded, so that
    a recording can be looked at wherever Python runs."""
    try:
        from reenact._core import OBJECTS, OPERATIONS
    except ImportError:
        return Names()
    return Names(OPERATIONS, OBJECTS)


class Streams:
    def __init__(self, members: Members, names: Names | None = None) -> None:
        self.members = members
        self.names = core_names() if names is None else names
        # The definitions last: while the program still runs, every number used in what was
        # measured before them is defined by then.
        order = sorted(format.STREAMS, key=lambda name: name == "definitions")
        present = [name for name in order if name in members.names()]
        self.extents = {name: stream_extent(members, name) for name in present}

    @classmethod
    def open(cls, path: str | os.PathLike[str], names: Names | None = None) -> Streams:
        return cls(open_members(path), names)

    @property
    def path(self) -> Path:
        return self.members.path

    @property
    def is_forked(self) -> bool:
        """Of a process that was forked: one that was started as a program has a header."""
        return format.HEADER not in self.members.names()

    @cached_property
    def processes(self) -> dict[str, Streams]:
        """What the processes that the first one started left, by their paths."""
        paths = dict.fromkeys(name.rpartition("/")[0] for name in self.members.names())
        return {path: Streams(Part(self.members, path), self.names) for path in paths if path}

    @cached_property
    def state(self) -> State | None:
        """The scheduler's memory; None if the program never wrote it."""
        if format.STATE not in self.members.names():
            return None
        return parse_state(read_whole(self.members, format.STATE, state.LIMIT), self.path)

    @cached_property
    def definitions(self) -> Definitions:
        data = self.whole("definitions", definitions.LIMIT)
        made = Definitions(data, self.names, self.path)
        if made.is_cut and not self._may_be_cut("definitions"):
            raise self._damaged("definitions", "its last entry is cut off")
        return made

    def schedule(self) -> Iterator[ScheduleEntry]:
        """Every decision, in order."""
        step = 0

        def entry(cursor: Cursor) -> ScheduleEntry:
            nonlocal step
            step += cursor.varint()
            code = cursor.varint()
            kind = name_of(code & 7, SCHEDULE_KINDS, "entry")
            operations = cursor.varint() if kind in ("steal", "between") else None
            if kind == "between":  # where; only a replay goes there
                for _ in range(3):
                    cursor.varint()
            if kind == "collect" and code >> 3 >= GENERATIONS:  # whose death: the same
                cursor.varint(), cursor.varint()
            return ScheduleEntry(step, kind, code >> 3, operations)

        return self._entries("schedule", entry)

    def operations(self) -> Iterator[Operation]:
        """Every operation as (step, thread index, object number, site number): the fast way."""
        with self._payload("operations") as payload:
            try:
                yield from decode_operations(payload.read)
            except EOFError:
                if not self._may_be_cut("operations"):
                    raise self._damaged("operations", "its last entry is cut off") from None
            except ValueError as error:
                raise self._damaged("operations", str(error)) from None

    def notes(self) -> Iterator[Note]:
        """What was not under control."""

        def entry(cursor: Cursor) -> Note:
            kind = name_of(cursor.varint(), NOTE_KINDS, "note")
            step, thread, value = cursor.varint(), cursor.varint(), cursor.varint()
            text = cursor.text(cursor.varint(), LONGEST_NOTE)
            return Note(kind, step, self.definitions.paths[thread], value, text)

        return self._entries("notes", entry)

    def clock_values(self) -> Iterator[tuple[int, int]]:
        """What the clocks returned: (clock, nanoseconds)."""
        values: dict[int, int] = {}

        def entry(cursor: Cursor) -> tuple[int, int]:
            clock = cursor.varint()
            if clock >= MOST_CLOCKS:
                raise ValueError(f"there is no clock {clock}")
            values[clock] = values.get(clock, 0) + cursor.zigzag()
            return clock, values[clock]

        return self._entries("clock", entry)

    def inputs(self, kept: int = KEPT) -> Iterator[Input]:
        """What calls to the outside came to, in order, with no more than so many bytes of each."""
        return self._entries("inputs", Entries(self.definitions.calls, kept).read)

    def lanes(self, intervals: list[Interval] | None = None) -> dict[int, Iterator[Item]]:
        """What each thread of a parallel run did, by its index. Intervals of light's order are
        added to those given, as the items are read."""
        data = self.whole(format.LANES, LANES_LIMIT)
        try:
            lanes = split(data)
        except ValueError as error:
            raise self._damaged(format.LANES, str(error)) from None
        return {thread: self._lane(thread, lane, intervals) for thread, lane in lanes.items()}

    def _lane(self, thread: int, lane: bytes, intervals: list[Interval] | None) -> Iterator[Item]:
        try:
            yield from decode(lane, self.definitions.calls, thread, intervals)
        except EOFError:
            if not self._may_be_cut(format.LANES):
                reason = f"the last entry of thread {thread} is cut off"
                raise self._damaged(format.LANES, reason) from None
        except ValueError as error:
            raise self._damaged(format.LANES, f"thread {thread}: {error}") from None

    def output_chunks(self) -> Iterator[tuple[int, bytes]]:
        """What was written: (descriptor, bytes), in order; long writes come in pieces."""
        for descriptor, pieces in self._entries("output", _write):
            for piece in pieces:
                yield descriptor, piece

    def output(self, descriptor: int) -> Iterator[bytes]:
        return (piece for fd, piece in self.output_chunks() if fd == descriptor)

    def outcome(self) -> Outcome | None:
        """The program's own report of a deadlock or a divergence, if it made one."""
        return parse_outcome(self.whole("outcome", outcome.LIMIT), self.names)

    def _entries(self, name: str, decode: Callable[[Cursor], _Entry]) -> Iterator[_Entry]:
        with self._payload(name) as payload:
            cursor = Cursor(payload)
            while cursor.more():
                start = cursor.offset
                try:
                    entry = decode(cursor)
                except EOFError:
                    if self._may_be_cut(name):
                        return
                    raise self._damaged(name, f"byte {start}: the entry is cut off") from None
                except ValueError as error:
                    raise self._damaged(name, f"byte {start}: {error}") from None
                yield entry

    def whole(self, name: str, limit: int) -> bytes:
        """All that is in use of a stream, if that is no more than the limit."""
        extent = self.extents.get(name, Extent(0, is_written=False))
        if extent.used > limit:
            reason = f"{name} has {extent.used} bytes, more than the {limit} it may have"
            raise RecordingError(self.path, "oversized", reason)
        with self._payload(name) as payload:
            return payload.read(extent.used)

    @contextmanager
    def _payload(self, name: str) -> Iterator[Payload]:
        extent = self.extents.get(name)
        if extent is None or not extent.used:
            yield Payload(_Nothing(), 0)
            return
        with self.members.open(name) as pieces:
            pieces.read(format.STREAM_HEADER.size)
            yield Payload(pieces, extent.used)

    def _may_be_cut(self, name: str) -> bool:
        return self.extents[name].is_cut or self.state is None or not self.state.is_whole

    def _damaged(self, name: str, what: str) -> RecordingError:
        return RecordingError(self.path, "damaged", f"{name}: {what}")


class _Nothing:
    def read(self, size: int, /) -> bytes:
        return b""


def _write(cursor: Cursor) -> tuple[int, Iterator[bytes]]:
    descriptor = cursor.varint()
    return descriptor, cursor.pieces(cursor.varint())


def written(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The same of a stream of output that is in memory; what is cut off at its end is left out."""
    at = 0
    while at < len(data):
        try:
            descriptor, at = format.decode_varint(data, at)
            size, at = format.decode_varint(data, at)
        except IndexError:
            return
        yield descriptor, data[at : at + size]
        at += size
