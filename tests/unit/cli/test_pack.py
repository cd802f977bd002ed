"""`reenact pack`: the directory goes only when the file is safe."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.cli import pack as command
from reenact.errors import RecordingError
from reenact.recordings.pack import verify
from reenact.recordings.reader import Recording

from ..recordings.build import sample

Reenact = Callable[..., int]
Capture = pytest.CaptureFixture[str]


def test_a_directory_becomes_a_file(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    assert reenact("pack", recorded) == 0
    target = recorded.with_name("run.reenact")
    assert capsys.readouterr().out.startswith(f"{target}: ")
    assert os.listdir(recorded.parent) == ["run.reenact"]
    verify(target)
    assert len(list(Recording.open(target).events())) == 10


@pytest.mark.parametrize(
    "directory, target",
    [
        ("a.reenact.d", "a.reenact"),
        ("a.reenact.d/", "a.reenact"),
        ("x/a", "x/a.reenact"),
        ("a.d", "a.d.reenact"),
        ("/r/a.reenact.d", "/r/a.reenact"),
    ],
)
def test_names(directory: str, target: str) -> None:
    assert command.default_target(Path(directory)) == Path.cwd() / target


def test_from_inside_the_directory(
    reenact: Reenact, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recorded)
    assert reenact("pack", ".", "--keep") == 0
    verify(recorded.with_name("run.reenact"))


def test_keep_and_output(reenact: Reenact, recorded: Path, tmp_path: Path) -> None:
    assert reenact("pack", recorded, "--keep", "-o", tmp_path / "x") == 0
    verify(tmp_path / "x")
    assert recorded.exists()


def test_other_files_are_not_removed(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    (recorded / "thesis.tex").write_text("mine")
    assert reenact("pack", recorded) == 0
    assert os.listdir(recorded) == ["thesis.tex"]
    assert "could not be removed" in capsys.readouterr().out


def test_a_file_that_is_there_is_kept_unless_forced(
    reenact: Reenact, recorded: Path, capsys: Capture
) -> None:
    target = recorded.with_name("run.reenact")
    target.write_bytes(b"old")
    assert reenact("pack", recorded) == 2
    assert "--force" in capsys.readouterr().err and target.read_bytes() == b"old"
    assert reenact("pack", recorded, "--force") == 0
    verify(target)


def test_a_packed_file_is_not_packed_again(
    reenact: Reenact, tmp_path: Path, capsys: Capture
) -> None:
    assert reenact("pack", sample().packed(tmp_path / "r.reenact")) == 2
    assert "already" in capsys.readouterr().err


def test_the_directory_stays_if_the_file_cannot_be_verified(
    reenact: Reenact, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path) -> None:
        raise RecordingError(path, "damaged", "it was not written well")

    monkeypatch.setattr("reenact.recordings.pack.verify", fail)
    before = sorted(os.listdir(recorded))
    assert reenact("pack", recorded) == 121
    assert sorted(os.listdir(recorded)) == before
    assert os.listdir(recorded.parent) == [recorded.name]


def test_what_is_still_being_recorded_is_left_alone(
    reenact: Reenact, tmp_path: Path, capsys: Capture
) -> None:
    made = sample()
    made.end, made.ended = None, 0
    path = made.directory(tmp_path / "run.reenact.d")
    with open(path / "state", "r+b") as file, mmap.mmap(file.fileno(), 0):
        assert reenact("pack", path) == 2
    assert f"process {os.getpid()} is still recording" in capsys.readouterr().err
    assert reenact("pack", path) == 0
