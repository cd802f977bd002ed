"""Turns what the parallel engine recorded into a recording of the serial engine's.

Replays, the debugger, analyses and dumps follow one schedule of all threads; `linear.py` finds one
that the lanes allow, and this module writes it down as if the serial engine had recorded it:
numbers of threads, sites and objects in the order in which a replay will meet them.
"""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from reenact.engine.deaths import released
from reenact.engine.linear import Linear, Unordered
from reenact.engine.solve import solve
from reenact.engine.ways import Way
from reenact.errors import RecordingError
from reenact.events import GENERATIONS, SCHEDULE_KINDS
from reenact.recordings import format
from reenact.recordings.format import encode_varint, encode_zigzag
from reenact.recordings.lanes import (
    CLOCK,
    COLLECT,
    DEATHS,
    INPUT,
    OPERATION,
    SIGNAL,
    WAIT,
    Interval,
    Item,
    chunk,
    split,
)
from reenact.recordings.members import CHUNK
from reenact.recordings.pack import UNPACK_LIMIT, unpack
from reenact.recordings.reader import Recording
from reenact.recordings.state import ENDS, STATUSES
from reenact.recordings.streams import LANES_LIMIT, Streams

_IN_VAIN = frozenset({"sleep", "acquire timeout", "get timeout", "join timeout"})
_COPIED = ("files", "output", "notes", "outcome")


@contextmanager
def opened(path: str | os.PathLike[str], process: str = "") -> Iterator[Recording]:
    """A recording as those want it that follow one schedule of all threads."""
    with serial(Recording.open(path, process=process)) as recording:
        yield recording


@contextmanager
def serial(recording: Recording, way: Way | None = None) -> Iterator[Recording]:
    """The recording as the serial engine would have made it, if threads had gone a certain way;
    itself if that did."""
    if not recording.is_parallel:
        yield recording
        return
    scratch = Path(mkdtemp(prefix="reenact-"))
    try:
        made = Recording.open(convert(recording, scratch / "serial", way))
        made.origin = recording.origin
        yield made
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def in_pieces(recording: Recording) -> Iterator[Recording]:
    """The recording of a parallel run, each lane in one piece: as a parallel replay reads it."""
    scratch = Path(mkdtemp(prefix="reenact-"))
    try:
        directory = scratch / "parallel"
        if recording.is_packed:
            unpack(recording.path, directory)
        else:
            shutil.copytree(recording.path, directory)
        _put_together(recording, directory / format.LANES)
        yield Recording.open(directory)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _put_together(recording: Recording, target: Path) -> None:
    try:
        lanes = split(recording.whole(format.LANES, LANES_LIMIT))
    except ValueError as error:
        raise RecordingError(recording.path, "damaged", f"lanes: {error}") from None
    paths = recording.definitions.paths
    pieces = bytearray()
    for thread, lane in lanes.items():
        parent, ordinal = paths.parent(thread)
        pieces += chunk(thread, encode_varint(parent) + encode_varint(ordinal) + lane)
    number = format.STREAMS[format.LANES]
    head = format.STREAM_HEADER.pack(format.STREAM_MAGIC, format.FORMAT, number, len(pieces))
    target.write_bytes(head + pieces)


def convert(recording: Recording, directory: Path, way: Way | None = None) -> Path:
    """Write the serial recording into a new directory."""
    directory.mkdir(mode=0o700, parents=True)
    _convert(recording, directory, recording.header.order, way)
    header = replace(recording.header, engine="converted", addresses="random", format=format.FORMAT)
    (directory / format.HEADER).write_text(header.to_json(), "utf-8")
    if recording.end is not None:
        (directory / format.END).write_text(recording.end.to_json(), "utf-8")
    for path, process in recording.processes.items():
        (directory / path).mkdir(mode=0o700)
        if _is_forked_by_us(recording, path):
            _convert(process, directory / path, recording.header.order)
        else:
            _copy(process, directory / path)
    return directory


def _is_forked_by_us(recording: Recording, path: str) -> bool:
    """Programs that were started have an engine of their own, and so have their children."""
    parts = path.split(".")
    paths = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return all(
        each in recording.processes and recording.processes[each].is_forked for each in paths
    )


def _copy(process: Streams, directory: Path) -> None:
    for name in process.members.names():
        with process.members.open(name) as pieces, open(directory / name, "xb") as file:
            while piece := pieces.read(CHUNK):
                file.write(piece)


def _convert(recording: Streams, directory: Path, order: str, way: Way | None = None) -> None:
    intervals: list[Interval] = []
    lanes: dict[int, Sequence[Item]] = {
        thread: list(items) for thread, items in recording.lanes(intervals).items()
    }
    if 0 not in lanes:
        reason = "it has no lane of the first thread: the program ended before it began"
        raise RecordingError(recording.path, "truncated", reason, advice="Record again.")
    sites = recording.definitions.sites
    waits = frozenset(site.number for site in sites if site.operation in _IN_VAIN)
    ends = frozenset(site.number for site in sites if site.operation == "end")
    is_deadlock = recording.state is not None and recording.state.ended == "deadlock"
    finals = recording.state.positions() if recording.state else {}
    written = _Written(recording)
    try:
        is_cut = recording.state is None or not recording.state.is_whole
        lanes = {thread: released(items) for thread, items in lanes.items()}
        lanes = solve(lanes, intervals) if order == "light" else lanes
        steps = Linear(lanes, waits, ends, finals, is_deadlock, is_cut, way).run(written)
        written.store(directory, steps)
    except (Unordered, ValueError, struct.error) as error:  # numbers that are too large
        raise RecordingError(recording.path, "damaged", f"lanes: {error}") from None


class _Written:
    """The streams of the serial recording, as they grow."""

    def __init__(self, recording: Streams) -> None:
        self._recording = recording
        self._sites: dict[int, int] = {}
        self._objects: dict[int, tuple[int, int]] = {}  # its number, and the site of first use
        self._threads = {0: 0}
        self._schedule, self._operations = bytearray(), bytearray()
        self._inputs, self._clock = bytearray(), bytearray()
        self._entry_step = 0
        self._last = (0, 0, 0)  # thread, object and step of the last operation
        self._clocks: dict[int, int] = {}
        self._counts = {"switches": 0, "operations": 0, "collections": 0}
        self._ended = "running"

    # ---- as linear.py tells it ----

    def switch(self, step: int, kind: str, thread: int) -> None:
        self._counts["switches"] += 1
        self._entry(step, kind, self._thread(thread))

    def between(self, step: int, thread: int, item: Item) -> None:
        self.switch(step, "between", thread)
        left = int.from_bytes(item.data, "little")
        for value in (self._counts["operations"], item.first, item.second, left):
            self._schedule += encode_varint(value)

    def happens(self, step: int, thread: int, item: Item) -> None:
        if item.kind == OPERATION:
            self._operation(step, thread, item)
        elif item.kind == WAIT:
            site = self._site(item.first)
            if item.second > 1 and not item.second & 1:
                self._object(item.second >> 1, site)
        elif item.kind == INPUT:
            self._inputs += item.data
        elif item.kind == CLOCK:
            since = item.second - self._clocks.get(item.first, 0)
            self._clocks[item.first] = item.second
            self._clock += encode_varint(item.first) + encode_zigzag(since)
        elif item.kind == COLLECT:
            self._counts["collections"] += 1
            self._entry(step, "collect", item.first)
        elif item.kind in DEATHS:
            self._death(step, item)
        elif item.kind == SIGNAL:
            self._entry(step, "signal", item.first)

    def end(self, step: int, is_deadlock: bool) -> None:
        self._ended = self._recording.state.ended if self._recording.state else "running"
        if self._ended != "running":
            self._entry(step, "end", int(is_deadlock))

    def _entry(self, step: int, kind: str, argument: int) -> None:
        code = argument << 3 | SCHEDULE_KINDS.index(kind)
        self._schedule += encode_varint(step - self._entry_step) + encode_varint(code)
        self._entry_step = step

    def _death(self, step: int, item: Item) -> None:
        if item.first not in self._threads:
            raise ValueError(f"thread {item.first} made a reference before it began")
        self._entry(step, "collect", GENERATIONS + DEATHS.index(item.kind))
        self._schedule += encode_varint(self._thread(item.first)) + encode_varint(item.second)

    def _operation(self, step: int, thread: int, item: Item) -> None:
        self._counts["operations"] += 1
        site = self._site(item.first)
        number = item.second >> 1
        if item.second & 1:
            number = self._thread(number)
        elif number:
            number = self._object(number, site)
        index = self._thread(thread)
        last_index, last_number, last_step = self._last
        marks = (index != last_index) << 2 | (number != last_number) << 1 | (step - last_step != 1)
        self._operations += encode_varint(site << 3 | marks)
        if index != last_index:
            self._operations += encode_varint(index)
        if number != last_number:
            self._operations += encode_zigzag(number - last_number)
        if step - last_step != 1:
            self._operations += encode_varint(step - last_step)
        self._last = (index, number, step)

    # ---- numbers ----

    def _site(self, number: int) -> int:
        """0 is nowhere."""
        return self._sites.setdefault(number, len(self._sites) + 1) if number else 0

    def _object(self, number: int, site: int) -> int:
        return self._objects.setdefault(number, (len(self._objects) + 1, site))[0]

    def _thread(self, index: int) -> int:
        return self._threads.setdefault(index, len(self._threads))

    # ---- writing ----

    def store(self, directory: Path, steps: int) -> None:
        streams = {
            "schedule": self._schedule,
            "operations": self._operations,
            "definitions": self._definitions(),
            "clock": self._clock,
            "inputs": self._inputs,
        }
        for name in _COPIED:
            streams[name] = bytearray(self._recording.whole(name, UNPACK_LIMIT))
        for name, payload in streams.items():
            number = format.STREAMS[name]
            head = (format.STREAM_MAGIC, format.FORMAT, number, len(payload))
            (directory / name).write_bytes(format.STREAM_HEADER.pack(*head) + payload)
        (directory / format.STATE).write_bytes(self._state(steps))

    def _state(self, steps: int) -> bytes:
        counts = self._counts
        fields = (steps, -1, len(self._threads), ENDS.index(self._ended), 0)
        totals = (counts["switches"], counts["operations"], counts["collections"], 0)
        head = (format.STREAM_MAGIC, format.FORMAT, format.SLOT.size, *fields, *totals)
        state = bytearray(format.STATE_HEADER.pack(*head).ljust(format.STATE_SLOTS, b"\0"))
        paths = self._recording.definitions.paths
        for index, number in self._threads.items():
            parent, ordinal = paths.parent(index)
            parent = -1 if index == 0 else self._threads.get(parent, 0)
            status = STATUSES.index("ended" if index else "running")
            state += format.SLOT.pack(0, number, parent, ordinal, status, 0, 0)
        return bytes(state)

    def _definitions(self) -> bytearray:
        known = self._recording.definitions
        made = bytearray()
        strings = {text: number for number, text in enumerate(known.strings)}
        for text in known.strings:
            made += _sized(1, text)
        for path, digest in known.sources.items():
            made += _varints(4, strings[path], strings[digest])
        for call in known.calls.values():
            made += _varints(6, call.number, call.opens) + _named(call.name)
        for module in known.modules:
            made += _varints(7) + _named(module)
        kinds = _numbers(known.names.operations)
        for old in self._sites:
            site = known.site(old)
            names = (strings[site.file], strings[site.function])
            made += _varints(2, _number(kinds, site.operation), *names, site.line)
        objects = _numbers(known.names.objects)
        for old, (_, first) in self._objects.items():
            found = known.objects[old]
            made += _varints(3, _number(objects, found.kind), first, found.address)
        for index, number in self._threads.items():
            if index:
                parent, ordinal = known.paths.parent(index)
                if self._threads.get(parent, number) >= number:
                    raise ValueError(f"thread {index} comes before who started it")
                made += _varints(5, number, self._threads[parent], ordinal)
        return made


def _numbers(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _number(numbers: dict[str, int], name: str) -> int:
    if name not in numbers:
        raise ValueError(f"this reenact does not know {name}")
    return numbers[name]


def _varints(*values: int) -> bytes:
    return b"".join(map(encode_varint, values))


def _named(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    return encode_varint(len(data)) + data


def _sized(tag: int, text: str) -> bytes:
    return encode_varint(tag) + _named(text)
