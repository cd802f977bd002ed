"""Packing and unpacking: nothing lost, nothing half done, nothing unpacked that is a trap."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.errors import RecordingError, ReenactError, UsageError
from reenact.events import Names
from reenact.recordings import pack as packing
from reenact.recordings.pack import pack, unpack, verify
from reenact.recordings.reader import Recording

from . import build
from .build import packed, sample, stream, write_directory


def contents(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.iterdir()}


def test_packed_and_unpacked_a_recording_is_the_same(tmp_path: Path, names: Names) -> None:
    directory = sample().directory(tmp_path / "r.reenact.d")
    target = pack(directory, tmp_path / "r.reenact")
    assert list(Recording.open(target, names).events()) == list(
        Recording.open(directory, names).events()
    )
    assert contents(unpack(target, tmp_path / "again")) == contents(directory)


def test_the_file_is_what_the_format_says(tmp_path: Path) -> None:
    directory = sample().directory(tmp_path / "r.reenact.d")
    target = pack(directory, tmp_path / "r.reenact")
    independent = tmp_path / "independent"
    independent.write_bytes(packed(sample().members()))
    assert contents(unpack(target, tmp_path / "a")) == contents(unpack(independent, tmp_path / "b"))


PAYLOADS = st.dictionaries(st.sampled_from(build.STREAMS), st.binary(max_size=3000))


@settings(max_examples=60, deadline=None)
@given(PAYLOADS, st.integers(0, 5000), st.booleans())
def test_round_trip_of_any_payload(payloads: dict[str, bytes], spare: int, has_end: bool) -> None:
    made = build.Builder()
    made.payloads |= payloads
    made.end = made.end if has_end else None
    expected = made.members()
    made.spare = spare
    with TemporaryDirectory() as scratch:
        directory = made.directory(Path(scratch) / "r.reenact.d")
        target = pack(directory, Path(scratch) / "r.reenact")
        assert contents(unpack(target, Path(scratch) / "again")) == expected


def test_streams_are_cut_to_what_is_used(tmp_path: Path) -> None:
    members = sample().members()
    members["schedule"] = stream("schedule", sample().payloads["schedule"], spare=10_000)
    members["notes"] = bytes(4096)
    members["clock"] = stream("clock", sample().payloads["clock"], used=10**9)
    target = pack(write_directory(tmp_path / "r", members), tmp_path / "r.reenact")
    again = contents(unpack(target, tmp_path / "again"))
    assert again["schedule"] == sample().members()["schedule"]
    assert again["notes"] == b""
    assert again["clock"] == members["clock"]


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    made = sample()
    made.output(1, bytes(1_000_000))
    pack(made.directory(tmp_path / "r"), tmp_path / "p", lambda *each: seen.append(each))
    assert seen[-1][0] == seen[-1][1] and seen == sorted(seen) and len(seen) > 10


def test_a_file_that_is_there_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"old")
    verify(pack(sample().directory(tmp_path / "r"), tmp_path / "p"))


def test_only_the_owner_may_read_a_packed_file(tmp_path: Path) -> None:
    target = pack(sample().directory(tmp_path / "r"), tmp_path / "p")
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_damaged_directory_leaves_no_file(tmp_path: Path) -> None:
    members = sample().members() | {"header.json": b"{}"}
    directory = write_directory(tmp_path / "r", members)
    with pytest.raises(RecordingError):
        pack(directory, tmp_path / "p")
    assert os.listdir(tmp_path) == ["r"]


def test_what_fails_to_verify_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p").write_bytes(b"old")
    directory = sample().directory(tmp_path / "r")
    write = packing._write

    def write_badly(file: IO[bytes], *rest: Any) -> None:
        write(file, *rest)
        file.seek(-3, os.SEEK_END)
        file.write(b"\0\0\0")

    monkeypatch.setattr(packing, "_write", write_badly)
    with pytest.raises(RecordingError):
        pack(directory, tmp_path / "p")
    assert (tmp_path / "p").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["p", "r"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    directory = sample().directory(tmp_path / "r")
    with pytest.raises(UsageError, match="cannot be written"):
        pack(directory, tmp_path / "none" / "p")
    target = pack(directory, tmp_path / "p")
    with pytest.raises(UsageError, match="cannot be written"):
        unpack(target, tmp_path / "none" / "again")


def test_an_existing_directory_is_not_unpacked_into(tmp_path: Path) -> None:
    target = sample().packed(tmp_path / "p")
    with pytest.raises(UsageError, match="already"):
        unpack(target, tmp_path)


def test_what_would_take_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = sample().packed(tmp_path / "p")
    with pytest.raises(RecordingError, match="more than the 100 allowed"):
        unpack(target, tmp_path / "again", limit=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 1))
    with pytest.raises(UsageError, match="the disk has 1"):
        unpack(target, tmp_path / "again")
    assert os.listdir(tmp_path) == ["p"]


def test_a_damaged_member_leaves_no_directory(tmp_path: Path) -> None:
    data = bytearray(packed(sample().members()))
    data[-30] ^= 255
    (tmp_path / "p").write_bytes(data)
    with pytest.raises(ReenactError):
        unpack(tmp_path / "p", tmp_path / "again")
    with pytest.raises(RecordingError):
        verify(tmp_path / "p")
    assert os.listdir(tmp_path) == ["p"]
