"""No room, no permission, no directory: it is said, and the program does what it always does."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reenact.engine.record import directory_of
from reenact.recordings.reader import Recording

from .running import PROGRAMS, Done, finish, left_at, reenact, start, step_of, wait_until

ROUNDS = 30_000
COUNTS = (PROGRAMS / "counts.py", ROUNDS)
RANDOM = ("--strategy", "random", "--seed", 1)


def check_program(done: Done) -> None:
    assert done.stdout == f"counts {[ROUNDS, ROUNDS]}\n"
    assert done.code == 5, done.stderr


def check_what_is_left(path: Path) -> None:
    """It opens, and as much as there is of it replays."""
    recording = Recording.open(path)
    told = reenact("info", path)
    assert told.code == 0, told.stderr
    assert "incomplete" in told.stdout
    replayed = reenact("replay", path)
    if recording.last_step == 0:
        assert replayed.code == 121, replayed.stderr
    else:
        assert replayed.end_of_recording == recording.last_step, replayed.stderr
        assert replayed.code == (5 if recording.end is not None else 0)


@pytest.fixture
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system of the size that the test asks for."""
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: a full disk. Only root can mount a small one; run this as root.")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.param}", "none", str(place)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("NOT TESTED: a full disk. mount is not permitted here, though we are root.")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("disk", ["4k", "16k", "64k", "128k", "400k"], indirect=True)
def test_no_room_to_begin(disk: Path) -> None:
    path = disk / "run.reenact"
    recorded = reenact("record", *RANDOM, "-o", path, *COUNTS)
    check_program(recorded)
    assert "cannot record: No space left on device" in recorded.stderr
    assert "runs without being recorded" in recorded.stderr
    check_what_is_left(left_at(path))


@pytest.mark.parametrize("disk", ["640k", "700k", "760k", "800k", "900k"], indirect=True)
def test_full_in_the_middle(disk: Path) -> None:
    path = disk / "run.reenact"
    recorded = reenact("record", *RANDOM, "-o", path, *COUNTS)
    check_program(recorded)
    assert "recording stopped early: No space left on device" in recorded.stderr
    check_what_is_left(left_at(path))


@pytest.mark.parametrize("blocks", [10, 70, 150])
def test_largest_file_size(tmp_path: Path, blocks: int) -> None:
    path = tmp_path / "run.reenact"
    limit = blocks * 1024

    def set_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    recorded = reenact("record", *RANDOM, "-o", path, *COUNTS, preexec_fn=set_limit)
    check_program(recorded)
    assert "File too large" in recorded.stderr
    check_what_is_left(left_at(path))


@pytest.mark.parametrize("place", ["/proc/run.reenact", "file/run.reenact", "file/a/b/run.reenact"])
def test_directory_that_cannot_be_made(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    recorded = reenact("record", "-o", tmp_path / place, *COUNTS)
    check_program(recorded)
    assert "cannot record into" in recorded.stderr
    assert "runs without being recorded" in recorded.stderr
    assert not list(tmp_path.glob("*.reenact*"))


def test_directory_removed_while_running(tmp_path: Path) -> None:
    path = tmp_path / "run.reenact"
    process = start("record", *RANDOM, "-o", path, *COUNTS)
    wait_until(process, lambda: step_of(path) > 1000)
    shutil.rmtree(directory_of(path))
    recorded = finish(process)
    check_program(recorded)
    assert "the recording could not be packed" in recorded.stderr
    assert "it cannot be read: No such file or directory" in recorded.stderr
    assert not list(tmp_path.iterdir())
