"""What a program leaves that is killed: a recording that opens, and replays up to its death."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from reenact.cli.info import as_json, rows
from reenact.recordings.reader import Recording

from .running import PROGRAMS, Done, finish, left_at, program_of, reenact, start, step_of, wait_until

MOMENTS = 50
WITH_LAUNCHER = 8  # of these, the launcher is killed too
chance = random.Random(20)
CASES = [(number, chance.randrange(1, 40_000)) for number in range(MOMENTS)]


def record_and_kill(path: Path, number: int, moment: int) -> Done:
    """Kills once the run has passed the step `moment`."""
    strategy = ("--strategy", "random", "--seed", number) if number % 2 else ("--slice", 100)
    process = start("record", *strategy, "-o", path, PROGRAMS / "busy.py")
    program = program_of(process)
    wait_until(process, lambda: step_of(path) >= moment)
    if number < WITH_LAUNCHER:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        os.kill(program, signal.SIGKILL)
    return finish(process)


@pytest.mark.parametrize(("number", "moment"), CASES)
def test_replays_to_the_point_of_death(tmp_path: Path, number: int, moment: int) -> None:
    path = tmp_path / "run.reenact"
    record_and_kill(path, number, moment)
    recording = Recording.open(left_at(path))
    assert recording.is_packed == (number >= WITH_LAUNCHER)
    assert recording.last_step >= moment
    assert as_json(recording)["threads"] == 6
    assert list(rows(recording))
    replayed = reenact("replay", recording.path)
    assert replayed.end_of_recording == recording.last_step, replayed.stderr
    assert "exactly as recorded" in replayed.stderr
    assert replayed.code == (0 if recording.end is None else 137)
