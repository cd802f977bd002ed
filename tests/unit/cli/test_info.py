"""`reenact info`, for people and for programs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..recordings.build import END, sample, write_directory

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "json.md"

Reenact = Callable[..., int]
Capture = pytest.CaptureFixture[str]


def page(reenact: Reenact, capsys: Capture, path: Path) -> str:
    assert reenact("info", path) == 0
    return capsys.readouterr().out


def test_a_page(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    out = page(reenact, capsys, recorded)
    for line in (
        "ran          script app.py --count 3",
        "started      2025-01-02T03:04:05+00:00, took 1.250 s",
        "ended        exited with code 0",
        "threads      3: 0, 0.1, 0.2",
        "operations   10",
        "switches     5",
        "steps        320",
        "taken in     files              4 outcomes, 8 bytes of data and text",
        "             clock              1 outcome",
        "uncontrolled step 12, thread 0: a thread that Python did not start",
        "sources      none recorded",
    ):
        assert f"\n{line}" in out
    assert "secret" not in out


@pytest.mark.parametrize(
    "end, text",
    [
        ({"ended": "exited", "exit_code": 3}, "exited with code 3"),
        ({"ended": "killed", "signal": 9}, "killed by SIGKILL"),
        ({"ended": "killed", "signal": 999}, "killed by signal 999"),
        ({"ended": "deadlock"}, "deadlock"),
        ({"ended": "lost"}, "lost sight of by the launcher"),
        (None, "closed its log; its exit code was not seen"),
    ],
)
def test_how_it_ended(
    reenact: Reenact, tmp_path: Path, capsys: Capture, end: dict[str, Any] | None, text: str
) -> None:
    made = sample()
    made.end = None if end is None else END | end
    assert f"\nended        {text}\n" in page(reenact, capsys, made.packed(tmp_path / "r"))


def test_a_killed_run(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    made = sample()
    made.end, made.ended, made.log_errno = None, 0, 28
    out = page(reenact, capsys, made.directory(tmp_path / "r"))
    assert "not seen: killed together with its launcher, or still running" in out
    assert "the log stopped: No space left on device" in out


def test_a_deadlock_is_explained(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    made = sample()
    made.outcome(
        ("reason", "deadlock"),
        ("at", 17, 1),
        ("thread", 1, 3, 6, 2, 1, 2),
        ("frame", "app.py", 3, "work"),
        ("thread", 0, 3, 4, 1, 2, 2),
    )
    out = page(reenact, capsys, made.packed(tmp_path / "r"))
    assert "report       deadlock at step 17\n" in out
    assert "thread 0.1 waiting: acquire lock 1 of thread 0.2, app.py:3 in work\n" in out
    assert "thread 0 waiting: join thread 0.2 of thread 0.2\n" in out


def test_sources(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "same.py").write_bytes(b"x")
    (tmp_path / "changed.py").write_bytes(b"y")
    made = sample()
    for name in ("same.py", "changed.py", "gone.py"):
        made.source(str(tmp_path / name), hashlib.sha256(b"x").hexdigest())
    out = page(reenact, capsys, made.packed(tmp_path / "r"))
    assert "sources      3, 2 not as recorded\n" in out
    assert f"changed: {tmp_path}/changed.py" in out and f"missing: {tmp_path}/gone.py" in out


def test_long_lists_are_cut(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    made = sample()
    for number in range(50):
        made.note(5, number, 0, 10)
        made.thread(0, 10 + number)
    out = page(reenact, capsys, made.packed(tmp_path / "r"))
    assert "... and 32 more" in out
    assert "threads      53: 0, 0.1, " in out and ", ...\n" in out


def test_json(reenact: Reenact, recorded: Path, capsys: Capture) -> None:
    assert reenact("info", recorded, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1 and found["packed"] is False
    assert found["header"]["argv"] == ["app.py", "--count", "3"]
    assert found["header"]["environment"] == ["HOME", "PASSWORD"]
    assert found["end"] == END
    assert found["thread_ids"] == ["0", "0.1", "0.2"]
    assert (found["threads"], found["operations"], found["steps"]) == (3, 10, 320)
    assert found["notes"] == len(found["note_list"]) == 2
    assert found["inputs"] == [
        {"source": "files", "count": 4, "bytes": 8},
        {"source": "clock", "count": 1, "bytes": 0},
    ]


def test_every_field_is_documented(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    made = sample()
    made.source("a.py", "00")
    made.outcome(
        ("reason", "operation"),
        ("expected", "operation", 1, 2, 3, 4),
        ("actual", "schedule", "end", 2, 3),
        ("thread", 1, 3, 6, 2, 1, 2),
        ("frame", "a", 1, "f"),
    )
    assert reenact("info", made.packed(tmp_path / "r"), "--json") == 0
    text = DOCUMENT.read_text()
    found = json.loads(capsys.readouterr().out)
    names = {*found, *found["note_list"][0], *found["source_list"][0], *found["outcome"]}
    names |= set(found["inputs"][0])
    names |= {*found["outcome"]["threads"][0], *found["sizes"]["state"], *found["header"]}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_a_damaged_recording(reenact: Reenact, tmp_path: Path, capsys: Capture) -> None:
    members = sample().members() | {"header.json": b'{"format": 99}'}
    assert reenact("info", write_directory(tmp_path / "r", members)) == 121
    assert "Update reenact" in capsys.readouterr().err
