"""What is not under control is said, never passed over, and never hangs anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.recordings.reader import Recording

from .running import PROGRAMS, reenact

STRATEGIES = (
    (),
    ("--strategy", "random", "--seed", "1"),
    ("--strategy", "random", "--seed", "2"),
    ("--slice", "20"),
)


def note_kinds(path: Path) -> list[str]:
    return [note.kind for note in Recording.open(path).notes()]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_thread_started_by_c_code(tmp_path: Path, strategy: tuple[str, ...]) -> None:
    path = tmp_path / "run.reenact"
    recorded = reenact("record", *strategy, "-o", path, PROGRAMS / "foreign.py")
    assert recorded.code == 0, recorded.stderr
    assert recorded.stdout == "[500, 500, 20] 5\n"
    assert "note: foreign thread" in recorded.stderr
    assert note_kinds(path).count("foreign thread") == 1
    told = reenact("info", path)
    assert "a thread that Python did not start" in told.stdout
    # It runs in a replay when it likes to, so the lock's order may be another: that is said, too.
    replayed = reenact("replay", path)
    assert replayed.code in (0, 120), replayed.stderr
    assert ("exactly as recorded" in replayed.stderr) == (replayed.code == 0)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("call", ["usleep", "read"])
def test_stuck_in_a_call_nobody_declared(
    tmp_path: Path, call: str, strategy: tuple[str, ...]
) -> None:
    """The others go on meanwhile: the pipe is written to by one of them."""
    path = tmp_path / "run.reenact"
    recorded = reenact("record", *strategy, "-o", path, PROGRAMS / "blocked.py", call)
    assert recorded.code == 0, recorded.stderr
    assert recorded.stdout.endswith("'goes on'] [500, 500]\n")
    assert "stolen baton" in note_kinds(path)
    replayed = reenact("replay", path)
    assert replayed.code == 0, replayed.stderr
    assert replayed.stdout == recorded.stdout
    assert "exactly as recorded" in replayed.stderr
