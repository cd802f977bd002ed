"""Packs a recording's directory into one file, and back.

`reenact pack` and the launcher call this. Bytes are streamed, so that memory does not depend on
the size of the recording, and results appear whole or not at all: everything is written beside
the target under another name, verified, and renamed. Removing what was packed is the caller's
decision.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from reenact.errors import RecordingError, UsageError
from reenact.recordings import format
from reenact.recordings.members import CHUNK, Directory, Members, Packed, stream_extent
from reenact.recordings.reader import read_end, read_header

LEVEL = 6
UNPACK_LIMIT = 1 << 36

Progress = Callable[[int, int], None]
"""Called with the bytes done and the bytes there are."""

_Path = str | os.PathLike[str]


def pack(directory: _Path, target: _Path, progress: Progress | None = None) -> Path:
    """Make the file `target`, replacing any that is there; the directory is left alone."""
    members = Directory(Path(directory))
    read_header(members)
    read_end(members)
    sizes = {name: _stored_size(members, name) for name in members.names()}
    target = Path(target)
    with _writing(target), _new_file(target) as new:
        with open(new, "wb") as file:
            _write(file, members, sizes, _Meter(sum(sizes.values()), progress))
        verify(new)
        os.replace(new, target)
        _sync_directory(target.parent)
    return target


def verify(path: _Path) -> None:
    """Read a packed file from end to end; RecordingError if anything in it is wrong."""
    members = Packed(Path(path))
    for name in members.names():
        with members.open(name) as pieces:
            while pieces.read(CHUNK):
                pass


def unpack(file: _Path, directory: _Path, limit: int = UNPACK_LIMIT) -> Path:
    """Make the directory, which must not exist; refuses what would not fit in `limit` bytes."""
    members = Packed(Path(file))
    directory = Path(directory)
    with _writing(directory):
        _check_room(members, directory, limit)
        with _new_directory(directory) as new:
            for name in members.names():
                _copy_member(members, name, new / name)
            os.rename(new, directory)
    return directory


def _copy_member(members: Members, name: str, target: Path) -> None:
    target.parent.mkdir(mode=0o700, exist_ok=True)
    with members.open(name) as pieces, open(target, "xb") as file:
        while piece := pieces.read(CHUNK):
            file.write(piece)


def _stored_size(members: Members, name: str) -> int:
    if format.base_of(name) not in format.STREAMS:
        return members.size(name)
    return stream_extent(members, name).stored_size


def _write(file: IO[bytes], members: Members, sizes: dict[str, int], meter: _Meter) -> None:
    """The table comes first in the file but is known last."""
    head = format.PACKED_HEADER.pack(format.PACKED_MAGIC, format.FORMAT, len(sizes))
    file.write(head + bytes(len(sizes) * format.PACKED_MEMBER.size + format.PACKED_CHECK.size))
    for name, size in sizes.items():
        head += _write_member(file, members, name, size, meter)
    file.seek(0)
    file.write(head + format.PACKED_CHECK.pack(zlib.crc32(head)))
    file.flush()
    os.fsync(file.fileno())


def _write_member(file: IO[bytes], members: Members, name: str, size: int, meter: _Meter) -> bytes:
    """Append the packed bytes; the member's line of the table."""
    engine = zlib.compressobj(LEVEL)
    start, check, left = file.tell(), 0, size
    with members.open(name) as pieces:
        while left > 0:
            piece = pieces.read(min(CHUNK, left))
            if not piece:
                raise RecordingError(members.path, "truncated", f"{name} became shorter")
            check = zlib.crc32(piece, check)
            file.write(engine.compress(piece))
            left -= len(piece)
            meter.add(len(piece))
    file.write(engine.flush())
    packed_size = file.tell() - start
    return format.PACKED_MEMBER.pack(name.encode(), size, packed_size, check, format.ZLIB)


class _Meter:
    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done = 0
        self._total = total
        self._progress = progress

    def add(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(self._done, self._total)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}"
        advice = "Name another place, or make room there."
        raise UsageError(what, where=str(target), advice=advice) from None


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """A file beside the target, gone again unless it was renamed. Only its owner may read it,
    as is the case with the directory's members: a recording holds the program's environment."""
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(number)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _new_directory(target: Path) -> Iterator[Path]:
    name = tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        yield Path(name)
    finally:
        shutil.rmtree(name, ignore_errors=True)


def _check_room(members: Members, directory: Path, limit: int) -> None:
    size = sum(members.size(name) for name in members.names())
    if size > limit:
        reason = f"unpacked it would have {size} bytes, more than the {limit} allowed"
        raise RecordingError(members.path, "oversized", reason)
    if os.path.lexists(directory):
        raise UsageError("is there already", where=str(directory), advice="Name another one.")
    free = shutil.disk_usage(directory.parent).free
    if size > free:
        what = f"unpacking takes {size} bytes, the disk has {free}"
        raise UsageError(what, where=str(directory), advice="Name another place.")


def _sync_directory(path: Path) -> None:
    """So that the new name survives a crash of the machine, too."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
