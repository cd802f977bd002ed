"""A recording, opened: its header, its events with names, and what is known of it as a whole.

The one thing other modules open; directory or packed file makes no difference to them. Opening
reads the header, the end and the heads of the streams; all else is read when asked for.
Recordings come from strangers: whatever is wrong with one ends in a RecordingError.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile, takewhile

from reenact.errors import RecordingError, UsageError
from reenact.events import Event, Names
from reenact.recordings import format
from reenact.recordings.header import End, Header
from reenact.recordings.lanes import INPUT, OPERATION, input_of
from reenact.recordings.members import Directory, Members, Part, open_members, read_whole
from reenact.recordings.operations import Operation
from reenact.recordings.state import State
from reenact.recordings.streams import Streams
from reenact.recordings.values import KEPT, Input

JSON_LIMIT = 1 << 23


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes of a member: as read, and as stored on disk."""

    raw: int
    stored: int


class Recording(Streams):
    """Everything a run left on disk. Made by `Recording.open(path)`."""

    def __init__(self, members: Members, names: Names | None = None) -> None:
        self.header = read_header(members)
        self.end = read_end(members)
        self.process = ""
        self.origin = members.path  # of a converted recording, the one that it was made of
        self.is_packed = not isinstance(members, Directory)
        super().__init__(members, names)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], names: Names | None = None, process: str = ""
    ) -> Recording:
        """`names` replaces the core's tables of kinds; `process` is one that the program started,
        itself a Python program."""
        members = open_members(path)
        if not process:
            return cls(members, names)
        part = Part(members, process)
        if format.HEADER not in part.names():
            raise UsageError(
                f"the recording has no process {process!r} that can be replayed by itself",
                where=str(path),
                advice="`reenact info` lists the processes. Forked ones replay with their parent.",
            )
        recording = cls(part, names)
        recording.process = process
        recording.is_packed = not isinstance(members, Directory)
        return recording

    def events(
        self, thread: str | None = None, first: int | None = None, last: int | None = None
    ) -> Iterator[Event]:
        """Operations with their names, of one thread and from one step to another if asked."""
        operations = self.operations()
        if thread is not None:
            wanted = self.thread_index(thread)
            operations = (each for each in operations if each[1] == wanted)
        if first is not None:
            operations = dropwhile(lambda each: each[0] < first, operations)
        if last is not None:
            operations = takewhile(lambda each: each[0] <= last, operations)
        return self._named(operations)

    def _named(self, operations: Iterable[Operation]) -> Iterator[Event]:
        sites, tables = self.definitions.sites, self.definitions.object_tables
        paths = self.definitions.paths
        try:
            for step, index, number, site in operations:
                yield Event(step, paths[index], tables[site][number], sites[site])
        except IndexError:
            raise self._damaged("operations", f"site {site} is not defined") from None

    @property
    def is_parallel(self) -> bool:
        """Whether each thread has a lane, and there is no schedule of all."""
        return self.header.engine == "parallel"

    def inputs(self, kept: int = KEPT) -> Iterator[Input]:
        """As the streams have them; of a parallel run, those of one thread after the other."""
        if not self.is_parallel:
            return super().inputs(kept)
        calls = self.definitions.calls
        return (
            input_of(item, calls, kept)
            for lane in self.lanes().values()
            for item in lane
            if item.kind == INPUT
        )

    def thread_path(self, index: int) -> str:
        return self.definitions.paths[index]

    def thread_paths(self) -> Iterator[str]:
        """The ids of all threads, in the order in which they were started."""
        paths = self.definitions.paths
        return (paths[index] for index in paths.indexes())

    def thread_index(self, path: str) -> int:
        paths = self.definitions.paths
        for index in paths.indexes():
            if paths[index] == path:
                return index
        raise UsageError(
            f"the recording has no thread {path!r}",
            where=str(self.path),
            advice="`reenact info` lists its threads.",
        )

    @cached_property
    def thread_count(self) -> int:
        return self.definitions.paths.count

    @property
    def _counted(self) -> State | None:
        """What the program counted. Once its log has stopped it counts what is not in the log."""
        return None if self.state is None or self.state.log_errno else self.state

    @cached_property
    def last_step(self) -> int:
        """Where the run stood when its last word was written. Threads of a parallel run have
        positions of their own: how many points they passed together."""
        if self.is_parallel:
            return sum(self.state.positions().values()) if self.state is not None else 0
        if self._counted is not None:
            return self._counted.step
        step = 0
        for entry in self.schedule():
            step = entry.step
        for operation in self.operations():
            step = max(step, operation[0])
        return step

    @cached_property
    def operation_count(self) -> int:
        if self.is_parallel and (self.state is None or not self.state.is_whole):
            items = (item for lane in self.lanes().values() for item in lane)
            return sum(1 for item in items if item.kind == OPERATION)
        if self._counted is not None:
            return self._counted.operations
        return sum(1 for _ in self.operations())

    @cached_property
    def switch_count(self) -> int:
        if self._counted is not None:
            return self._counted.switches
        return sum(1 for entry in self.schedule() if entry.is_switch)

    @cached_property
    def collection_count(self) -> int:
        if self._counted is not None:
            return self._counted.collections
        return sum(1 for entry in self.schedule() if entry.is_collection)

    @property
    def sizes(self) -> dict[str, Size]:
        """By member, of all processes; of a stream, `raw` counts what is in use."""
        sizes: dict[str, Size] = {}
        for name in self.members.names():
            base = format.base_of(name)
            before = sizes.get(base, Size(0, 0))
            raw, stored = self._raw_size(name), self.members.stored(name)
            sizes[base] = Size(before.raw + raw, before.stored + stored)
        return sizes

    def _raw_size(self, name: str) -> int:
        process, _, base = name.rpartition("/")
        streams = self.processes[process] if process else self
        if base in streams.extents:
            return streams.extents[base].stored_size
        return self.members.size(name)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """What is not as in a run that came to its end, in words."""
        return tuple(self._problems())

    def _problems(self) -> Iterator[str]:
        if self.end is None:
            yield "the launcher did not see how the run ended"
        if self.state is None:
            yield "the program left no state"
        elif self.state.log_errno:
            yield f"the log stopped: {os.strerror(self.state.log_errno)}"
        elif not self.state.is_whole:
            yield "the program did not close its log; it was killed, or still runs"
        for name in format.STREAMS:
            if name not in self.extents and name != format.LANES:
                yield f"{name} is missing"
            elif name in self.extents and self.extents[name].is_cut:
                yield f"{name} is shorter than its header says"


def read_header(members: Members) -> Header:
    if format.HEADER not in members.names():
        raise RecordingError(members.path, "foreign", f"it has no {format.HEADER}")
    return Header.from_json(read_whole(members, format.HEADER, JSON_LIMIT), members.path)


def read_end(members: Members) -> End | None:
    if format.END not in members.names():
        return None
    return End.from_json(read_whole(members, format.END, JSON_LIMIT), members.path)
