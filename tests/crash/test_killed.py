"""What a program leaves that dies: a recording that opens, and replays up to the point of death."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from reenact.cli.info import as_json, rows
from reenact.recordings.reader import Recording

from ..versions import IS_DEFAULT
from .running import (
    PROGRAMS,
    finish,
    left_at,
    program_of,
    reenact,
    start,
    step_of,
    wait_until,
)

MOMENTS = 50 if IS_DEFAULT else 16
WITH_LAUNCHER = 8  # of these, the launcher is killed too
_chance = random.Random(20)
CASES = tuple((number, _chance.randrange(1, 20_000)) for number in range(MOMENTS))
BUSY = PROGRAMS / "busy.py"


def record_and_kill(path: Path, number: int, moment: int) -> Path:
    """Kills once the run has passed the step `moment`; what is left."""
    strategy = ("--strategy", "random", "--seed", number) if number % 2 else ("--slice", 100)
    process = start("record", *strategy, "-o", path, BUSY)
    program = program_of(process)
    wait_until(process, lambda: step_of(path) >= moment)
    if number < WITH_LAUNCHER:
        kill = os.killpg if number % 2 else os.kill  # a program does not outlive its launcher
        kill(process.pid, signal.SIGKILL)
    else:
        os.kill(program, signal.SIGKILL)
    finish(process)
    return left_at(path)


@pytest.mark.parametrize(("number", "moment"), CASES)
def test_replays_to_the_point_of_death(tmp_path: Path, number: int, moment: int) -> None:
    path = record_and_kill(tmp_path / "run.reenact", number, moment)
    replayed = reenact("replay", path)
    recording = Recording.open(path)
    assert recording.is_packed == (number >= WITH_LAUNCHER)
    assert recording.last_step >= moment
    assert 1 <= as_json(recording)["threads"] <= 6
    assert list(rows(recording))
    assert replayed.end_of_recording == recording.last_step, replayed.stderr
    assert "exactly as recorded" in replayed.stderr
    assert replayed.code == (0 if recording.end is None else 137)


@pytest.mark.parametrize("number", range(8))
def test_killed_while_it_starts(tmp_path: Path, number: int) -> None:
    """Whatever there is opens; what has no first step yet is refused with a reason."""
    path = tmp_path / "run.reenact"
    process = start("record", "-o", path, BUSY)
    program = program_of(process)
    wait_until(process, _Times(number * 60))
    os.kill(program, signal.SIGKILL)
    finish(process)
    recording = Recording.open(left_at(path))
    assert list(rows(recording))
    replayed = reenact("replay", recording.path)
    if replayed.code == 121:
        assert "the program ended before it began" in replayed.stderr, replayed.stderr
    else:
        assert replayed.end_of_recording == recording.last_step, replayed.stderr
        assert replayed.code == 137


class _Times:
    """True when asked often enough: a moment that is later on a slower machine."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self) -> bool:
        self.count -= 1
        return self.count < 0


DEATHS = {
    "segfault": 128 + signal.SIGSEGV,
    "abort": 128 + signal.SIGABRT,
    "exit": 7,
    "terminate": 128 + signal.SIGTERM,
    "kill": 128 + signal.SIGKILL,
}


@pytest.mark.parametrize("how", DEATHS)
@pytest.mark.parametrize("strategy", [("--strategy", "random", "--seed", "3"), ("--slice", "77")])
def test_a_death_of_its_own_is_died_again(
    tmp_path: Path, how: str, strategy: tuple[str, ...]
) -> None:
    path = tmp_path / "run.reenact"
    recorded = reenact("record", *strategy, "-o", path, PROGRAMS / "dies.py", how)
    assert recorded.code == DEATHS[how], recorded.stderr
    assert "never printed" not in recorded.stdout
    recording = Recording.open(path)
    assert recording.end is not None
    assert recording.end.exit_code == DEATHS[how]
    replayed = reenact("replay", path)
    assert replayed.code == DEATHS[how], replayed.stderr
    assert replayed.stdout == recorded.stdout
    assert f"replayed {recording.last_step:,} steps" in replayed.stderr, replayed.stderr


@pytest.mark.parametrize("whom", ["launcher", "program"])
def test_terminated_from_outside(tmp_path: Path, whom: str) -> None:
    path = tmp_path / "run.reenact"
    process = start("record", "-o", path, BUSY)
    program = program_of(process)
    wait_until(process, lambda: step_of(path) >= 5000)
    os.kill(process.pid if whom == "launcher" else program, signal.SIGTERM)
    recorded = finish(process)
    assert recorded.code == 128 + signal.SIGTERM
    recording = Recording.open(path)
    assert recording.end is not None
    assert recording.end.signal == signal.SIGTERM
    replayed = reenact("replay", path)
    assert replayed.end_of_recording == recording.last_step, replayed.stderr
    assert replayed.code == 128 + signal.SIGTERM
