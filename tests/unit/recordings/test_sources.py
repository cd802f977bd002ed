"""Source lines are shown only where they are the recorded ones."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from reenact.recordings import sources
from reenact.recordings.sources import Sources

TEXT = b"first\n  second\r\nthird"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_bytes(TEXT)
    return tmp_path / "app.py"


def test_an_unchanged_file(file: Path) -> None:
    found = Sources({str(file): hashlib.sha256(TEXT).hexdigest()}, "/")
    assert found.standing(str(file)) == "same"
    assert [found.line(str(file), number) for number in range(5)] == [
        None,
        "first",
        "second",
        "third",
        None,
    ]


def test_a_changed_file_gives_no_lines(file: Path) -> None:
    found = Sources({str(file): "00"}, "/")
    assert found.standing(str(file)) == "changed"
    assert found.line(str(file), 1) is None


def test_a_file_without_a_digest_is_believed(file: Path) -> None:
    found = Sources({}, str(file.parent))
    assert found.standing("app.py") == "not recorded"
    assert found.line("app.py", 1) == "first"


@pytest.mark.parametrize("path", ["/nowhere/x.py", "<string>", "a\0b", "/dev/zero", "/", ""])
def test_what_is_no_file(path: str) -> None:
    assert Sources({}, "/").standing(path) == "missing"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert Sources({}, "/").standing(str(tmp_path / "pipe")) == "missing"


def test_a_huge_file_is_not_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST", 10)
    assert Sources({}, "/").standing(str(file)) == "missing"


@pytest.mark.parametrize(
    "data, line",
    [
        (b"# coding: latin-1\n\xe9", "\xe9"),
        (b"# coding: nonsense\nx", "x"),
        (b"# coding: rot13\nx", "x"),
        (b"\n\xff", "\ufffd"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, line: str) -> None:
    (tmp_path / "a.py").write_bytes(data)
    assert Sources({}, str(tmp_path)).line("a.py", 2) == line
