"""Where the bytes of a recording's members come from: a directory, or a packed file.

Both give the same interface (`Members`), so that everything above reads one like the other.
Nothing is trusted: members must be regular files reached without links, sizes are checked
against the file before anything is read, and no read gives more than was asked for. Files are
read, not mapped: a file cut short while it is mapped would kill the reader with SIGBUS. What
the bytes mean is known above, all but the header of a stream, which says how long it is.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from reenact.errors import Fault, RecordingError
from reenact.recordings import format

CHUNK = 1 << 16


class Pieces(Protocol):
    """An open member; `read` gives fewer bytes than asked for only at the end."""

    def read(self, size: int, /) -> bytes: ...


class Members(Protocol):
    """The members of one recording. `stored` is the size on disk, `size` that of the bytes."""

    path: Path

    def names(self) -> tuple[str, ...]: ...

    def size(self, name: str) -> int: ...

    def stored(self, name: str) -> int: ...

    @contextmanager
    def open(self, name: str) -> Iterator[Pieces]: ...


def open_members(path: str | os.PathLike[str]) -> Members:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError:
        raise RecordingError(path, "missing", "no file can have this name") from None
    if stat.S_ISDIR(mode):
        return Directory(Path(path))
    if stat.S_ISREG(mode):
        return Packed(Path(path))
    raise RecordingError(path, "foreign", "it is neither a file nor a directory")


def read_whole(members: Members, name: str, limit: int) -> bytes:
    size = members.size(name)
    if size > limit:
        reason = f"{name} has {size} bytes, more than the {limit} it may have"
        raise RecordingError(members.path, "oversized", reason)
    with members.open(name) as pieces:
        return pieces.read(size)


class Directory:
    """A recording as the program left it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        names = [*format.MEMBERS, *self._names_of_processes()]
        self._sizes = {name: size for name in names if (size := self._look(name)) >= 0}
        if not self._sizes:
            raise RecordingError(path, "foreign", "the directory has no member of a recording")

    def _names_of_processes(self) -> Iterator[str]:
        """Directories beside the members: one for each process that the first one started."""
        try:
            found = sorted(os.listdir(self.path))
        except OSError as error:
            raise _unreadable(self.path, error) from None
        for process in filter(format.is_process, found):
            for name in format.MEMBERS:
                yield f"{process}/{name}"

    def names(self) -> tuple[str, ...]:
        return tuple(self._sizes)

    def size(self, name: str) -> int:
        return self._sizes[name]

    def stored(self, name: str) -> int:
        return self._sizes[name]

    @contextmanager
    def open(self, name: str) -> Iterator[Pieces]:
        # O_NONBLOCK: opening a pipe that pretends to be a member must not wait.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = os.fdopen(os.open(self.path / name, flags), "rb", 0)
        except OSError as error:
            raise _unreadable(self.path, error) from None
        with file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RecordingError(self.path, "foreign", f"{name} is not a regular file")
            yield _Plain(file, self.path)

    def _look(self, name: str) -> int:
        try:
            facts = os.lstat(self.path / name)
        except (FileNotFoundError, NotADirectoryError):
            return -1
        except OSError as error:
            raise _unreadable(self.path, error) from None
        if not stat.S_ISREG(facts.st_mode):
            raise RecordingError(self.path, "foreign", f"{name} is not a regular file")
        return facts.st_size


class Part:
    """The members of one process, under the names that those of the first one have."""

    def __init__(self, members: Members, process: str) -> None:
        self.path = members.path
        self._members = members
        self._prefix = f"{process}/"

    def names(self) -> tuple[str, ...]:
        size = len(self._prefix)
        return tuple(n[size:] for n in self._members.names() if n.startswith(self._prefix))

    def size(self, name: str) -> int:
        return self._members.size(self._prefix + name)

    def stored(self, name: str) -> int:
        return self._members.stored(self._prefix + name)

    @contextmanager
    def open(self, name: str) -> Iterator[Pieces]:
        with self._members.open(self._prefix + name) as pieces:
            yield pieces


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of a packed file's table, and where its bytes begin."""

    raw_size: int
    packed_size: int
    check: int
    offset: int


class Packed:
    """A recording in one file. The table is checked at once, a member when read to its end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _open_packed(path) as file:
            self._table = _read_table(path, file)

    def names(self) -> tuple[str, ...]:
        return tuple(self._table)

    def size(self, name: str) -> int:
        return self._table[name].raw_size

    def stored(self, name: str) -> int:
        return self._table[name].packed_size

    @contextmanager
    def open(self, name: str) -> Iterator[Pieces]:
        entry = self._table[name]
        with _open_packed(self.path) as file:
            file.seek(entry.offset)
            yield _Inflater(_Plain(file, self.path), entry, name)


def _open_packed(path: Path) -> IO[bytes]:
    try:
        return open(path, "rb", 0)
    except OSError as error:
        raise _unreadable(path, error) from None


def _read_table(path: Path, raw_file: IO[bytes]) -> dict[str, _Entry]:
    file = _Plain(raw_file, path)
    head = file.read(format.PACKED_HEADER.size)
    if head[:8] != format.PACKED_MAGIC:
        raise RecordingError(path, "foreign", "it does not begin like a recording")
    if len(head) < format.PACKED_HEADER.size:
        raise RecordingError(path, "truncated", "it ends inside its header")
    _, version, count = format.PACKED_HEADER.unpack(head)
    check_version(path, version)
    if not 0 < count <= format.MOST_MEMBERS:
        raise RecordingError(path, "damaged", f"it claims to have {count} members")
    table = file.read(count * format.PACKED_MEMBER.size)
    check = file.read(format.PACKED_CHECK.size)
    if len(check) < format.PACKED_CHECK.size:
        raise RecordingError(path, "truncated", "it ends inside its table of members")
    if format.PACKED_CHECK.unpack(check)[0] != zlib.crc32(head + table):
        raise RecordingError(path, "damaged", "the checksum of its table is wrong")
    return _parse_table(path, table, raw_file.tell(), os.fstat(raw_file.fileno()).st_size)


def _parse_table(path: Path, table: bytes, offset: int, file_size: int) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    for raw_name, raw_size, packed_size, check, method in format.PACKED_MEMBER.iter_unpack(table):
        name = raw_name.rstrip(b"\0").decode("ascii", "backslashreplace")
        if not format.is_member(name) or name in entries:
            raise RecordingError(path, "damaged", f"it has an unexpected member {name!r}")
        if method != format.ZLIB:
            raise RecordingError(path, "newer", f"{name} is compressed by unknown method {method}")
        if raw_size > packed_size * format.ZLIB_LARGEST_RATIO:
            reason = f"{name} cannot have {raw_size} bytes in {packed_size} packed ones"
            raise RecordingError(path, "damaged", reason)
        entries[name] = _Entry(raw_size, packed_size, check, offset)
        offset += packed_size
    if offset > file_size:
        raise RecordingError(path, "truncated", f"it has {file_size} of {offset} bytes")
    if offset < file_size:
        raise RecordingError(path, "damaged", f"{file_size - offset} bytes follow its end")
    return entries


class _Plain:
    """Reads a file as it is, and blames its recording when that fails."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = file
        self.path = path

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            raise _unreadable(self.path, error) from None


class _Inflater:
    """Reads one packed member. Memory is bounded: never more than a chunk is inflated ahead."""

    def __init__(self, file: _Plain, entry: _Entry, name: str) -> None:
        self._file = file
        self._engine = zlib.decompressobj()
        self._packed_left = entry.packed_size
        self._raw_left = entry.raw_size
        self._expected = entry.check
        self._check = 0
        self._name = name

    def read(self, size: int, /) -> bytes:
        size = min(size, self._raw_left)
        pieces = []
        while size > 0:
            piece = self._inflate(size)
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _inflate(self, size: int) -> bytes:
        piece = self._step(min(size, CHUNK))
        self._raw_left -= len(piece)
        self._check = zlib.crc32(piece, self._check)
        if self._raw_left == 0:
            self._finish()
        return piece

    def _step(self, size: int) -> bytes:
        while not self._engine.eof:
            packed = self._engine.unconsumed_tail or self._next_packed()
            try:
                piece = self._engine.decompress(packed, size)
            except zlib.error:
                raise self._damaged("cannot be decompressed") from None
            if piece:
                return piece
            if not packed:
                break
        raise self._damaged("ends before its size")

    def _next_packed(self) -> bytes:
        packed = self._file.read(min(CHUNK, self._packed_left))
        self._packed_left -= len(packed)
        return packed

    def _finish(self) -> None:
        """The sizes and the checksum must come out exactly."""
        try:
            rest = self._engine.decompress(self._engine.unconsumed_tail + self._next_packed(), 1)
        except zlib.error:
            raise self._damaged("cannot be decompressed") from None
        if rest or not self._engine.eof or self._engine.unused_data or self._packed_left:
            raise self._damaged("does not end at its size")
        if self._check != self._expected:
            raise self._damaged("has a wrong checksum")

    def _damaged(self, what: str) -> RecordingError:
        return RecordingError(self._file.path, "damaged", f"{self._name} {what}")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a stream's payload there is. `is_cut`: its header promises more."""

    used: int
    is_cut: bool = False
    is_written: bool = True

    @property
    def stored_size(self) -> int:
        return format.STREAM_HEADER.size + self.used if self.is_written else 0


def stream_extent(members: Members, name: str) -> Extent:
    """Check a stream's header. A stream the program never came to write counts as empty."""
    size = members.size(name)
    with members.open(name) as pieces:
        head = pieces.read(format.STREAM_HEADER.size)
    if not any(head):
        return Extent(0, is_written=False)
    if len(head) < format.STREAM_HEADER.size:
        raise RecordingError(members.path, "truncated", f"{name} ends inside its header")
    magic, version, number, used = format.STREAM_HEADER.unpack(head)
    if magic != format.STREAM_MAGIC:
        raise RecordingError(members.path, "foreign", f"{name} is not a stream of a recording")
    check_version(members.path, version)
    if number != format.STREAMS[format.base_of(name)]:
        raise RecordingError(members.path, "damaged", f"{name} holds stream number {number}")
    room = max(size - format.STREAM_HEADER.size, 0)
    return Extent(min(used, room), is_cut=used > room)


def check_version(path: str | os.PathLike[str], version: int) -> None:
    if version > format.FORMAT:
        reason = f"it has format {version}, this reenact reads format {format.FORMAT}"
        raise RecordingError(path, "newer", reason)
    if version < 1:
        raise RecordingError(path, "damaged", f"format {version} never existed")
    if version < format.OLDEST:
        reason = f"it has format {version}, this reenact reads format {format.FORMAT}"
        raise RecordingError(path, "older", reason)


def _unreadable(path: str | os.PathLike[str], error: OSError) -> RecordingError:
    fault: Fault = "missing" if isinstance(error, FileNotFoundError) else "unreadable"
    return RecordingError(path, fault, f"it cannot be read: {error.strerror or error}")
