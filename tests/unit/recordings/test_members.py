"""Files that are not what they claim to be; each ends in an error of the right kind."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import pytest

from reenact.errors import RecordingError
from reenact.recordings.members import open_members
from reenact.recordings.reader import Recording

from .build import packed, sample, stream, write_directory


def fault_of(path: Path) -> str:
    with pytest.raises(RecordingError) as caught:
        Recording.open(path)
    return caught.value.fault


def with_table(data: bytes, offset: int, layout: str, *values: object) -> bytes:
    """Change a packed file's table, and make its checksum right again."""
    count = struct.unpack_from("<I", data, 12)[0]
    end = 16 + 48 * count
    table = bytearray(data[:end])
    struct.pack_into(layout, table, offset, *values)
    return bytes(table) + struct.pack("<I", zlib.crc32(table)) + data[end + 4 :]


def test_no_such_file(tmp_path: Path) -> None:
    assert fault_of(tmp_path / "none") == "missing"
    assert fault_of(Path("a\0b")) == "missing"


def test_a_foreign_directory(tmp_path: Path) -> None:
    assert fault_of(tmp_path) == "foreign"
    (tmp_path / "schedule").write_bytes(b"8:00 get up")
    assert fault_of(tmp_path) == "foreign"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert fault_of(tmp_path / "pipe") == "foreign"
    members = sample().members()
    del members["operations"]
    path = write_directory(tmp_path / "r", members)
    os.mkfifo(path / "operations")
    assert fault_of(path) == "foreign"


def test_links_are_not_followed(tmp_path: Path) -> None:
    path = sample().directory(tmp_path / "r")
    (path / "notes").unlink()
    (path / "notes").symlink_to("/dev/zero")
    assert fault_of(path) == "foreign"


def test_a_device_is_foreign() -> None:
    assert fault_of(Path("/dev/zero")) == "foreign"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_we_may_not_read(tmp_path: Path) -> None:
    path = sample().packed(tmp_path / "r.reenact")
    path.chmod(0)
    assert fault_of(path) == "unreadable"


@pytest.mark.parametrize("data", [b"", b"REENACT", b"reenact\0" + bytes(100), b"PK\3\4" * 50])
def test_a_foreign_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "r").write_bytes(data)
    assert fault_of(tmp_path / "r") == "foreign"


def test_every_truncation_of_a_packed_file_is_noticed_at_once(tmp_path: Path) -> None:
    data = packed(sample().members())
    for size in range(8, len(data)):
        (tmp_path / "r").write_bytes(data[:size])
        assert fault_of(tmp_path / "r") == "truncated"


CASES = [
    (8, "<I", (4,), "newer"),
    (8, "<I", (1,), "older"),
    (8, "<I", (0,), "damaged"),
    (12, "<I", (0,), "damaged"),
    (12, "<I", (2**32 - 1,), "damaged"),
]
TABLE_CASES = [
    (16, "<24s", (b"../../etc/passwd",), "damaged"),
    (16, "<24s", (b"/etc/passwd",), "damaged"),
    (16, "<24s", (b"end.json",), "damaged"),
    (16, "<24s", (b"\xff\x1b[31m",), "damaged"),
    (16, "<24s", (b"header.json\0x",), "damaged"),
    (40, "<Q", (2**63,), "damaged"),
    (48, "<Q", (2**63,), "truncated"),
    (60, "<I", (3,), "newer"),
]


@pytest.mark.parametrize("offset, layout, values, fault", CASES)
def test_a_packed_file_with_another_head(
    tmp_path: Path, offset: int, layout: str, values: tuple[object, ...], fault: str
) -> None:
    data = bytearray(packed(sample().members()))
    struct.pack_into(layout, data, offset, *values)
    (tmp_path / "r").write_bytes(data)
    assert fault_of(tmp_path / "r") == fault


@pytest.mark.parametrize("offset, layout, values, fault", TABLE_CASES)
def test_a_packed_file_with_another_table(
    tmp_path: Path, offset: int, layout: str, values: tuple[object, ...], fault: str
) -> None:
    data = with_table(packed(sample().members()), offset, layout, *values)
    (tmp_path / "r").write_bytes(data)
    assert fault_of(tmp_path / "r") == fault


def test_bytes_after_the_end_are_damage(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(packed(sample().members()) + b"x")
    assert fault_of(tmp_path / "r") == "damaged"


@pytest.mark.parametrize("difference", [-1, 1])
def test_a_raw_size_that_is_wrong(tmp_path: Path, difference: int) -> None:
    members = sample().members()
    size = len(members["header.json"]) + difference
    (tmp_path / "r").write_bytes(packed(members, {"header.json": size}))
    assert fault_of(tmp_path / "r") == "damaged"


def test_a_wrong_checksum_is_noticed_at_the_end_of_a_member(tmp_path: Path) -> None:
    data = with_table(packed(sample().members()), 56, "<I", 123)
    (tmp_path / "r").write_bytes(data)
    assert fault_of(tmp_path / "r") == "damaged"


@pytest.mark.parametrize(
    "content, fault",
    [
        (stream("schedule", b"")[:63], "truncated"),
        (b"x" + stream("schedule", b""), "foreign"),
        (stream("operations", b""), "damaged"),
        (b"reenact\0\4" + stream("schedule", b"")[9:], "newer"),
        (b"reenact\0\0" + stream("schedule", b"")[9:], "damaged"),
    ],
)
def test_a_stream_with_another_head(tmp_path: Path, content: bytes, fault: str) -> None:
    members = sample().members() | {"schedule": content}
    assert fault_of(write_directory(tmp_path / "r", members)) == fault
    (tmp_path / "packed").write_bytes(packed(members))
    assert fault_of(tmp_path / "packed") == fault


def test_a_header_that_is_too_large(tmp_path: Path) -> None:
    members = sample().members() | {"header.json": b" " * (1 << 24)}
    (tmp_path / "r").write_bytes(packed(members))
    assert fault_of(tmp_path / "r") == "oversized"


def test_a_directory_that_goes_away(tmp_path: Path) -> None:
    path = sample().directory(tmp_path / "r")
    recording = Recording.open(path)
    (path / "operations").unlink()
    with pytest.raises(RecordingError) as caught:
        list(recording.operations())
    assert caught.value.fault == "missing"


@pytest.mark.parametrize("size", [1, 7, 64, 65_536, 70_000, 1 << 20])
def test_pieces_of_any_size_make_the_same_bytes(tmp_path: Path, size: int) -> None:
    data = (bytes(300_000) + os.urandom(100_000)) * 2
    members = sample().members() | {"outcome": data}
    (tmp_path / "r").write_bytes(packed(members))
    with open_members(tmp_path / "r").open("outcome") as pieces:
        read = bytearray()
        while piece := pieces.read(size):
            assert len(piece) <= size
            read += piece
            if len(read) > 5000 and size < 64:
                return
    assert read == data
