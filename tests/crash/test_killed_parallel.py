"""What a program leaves that dies while its threads run at the same time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from reenact.cli.info import as_json, rows
from reenact.engine.record import directory_of
from reenact.errors import ReenactError
from reenact.recordings.reader import Recording

from ..free_threaded import HAS_GIL
from .running import finish, left_at, program_of, reenact, start, wait_until

# Locks alone: of tests/crash/programs/busy.py, which does a bit of everything, about one in ten
# replays diverges at the end.
PROGRAM = """\
import threading

lock = threading.Lock()
total = 0


def count():
    global total
    while True:
        with lock:
            total += 1


for _ in range(3):
    threading.Thread(target=count).start()
"""


def points_of(path: Path) -> int:
    try:
        return Recording.open(directory_of(path)).last_step
    except ReenactError:
        return -1


@pytest.mark.skipif(not HAS_GIL, reason="without a GIL, what was under way as it died may differ")
@pytest.mark.parametrize("whom", ["program", "launcher"])
@pytest.mark.parametrize("moment", [500, 3000])
def test_replays_to_the_point_of_death(tmp_path: Path, whom: str, moment: int) -> None:
    path = tmp_path / "run.reenact"
    (tmp_path / "app.py").write_text(PROGRAM)
    process = start("record", "--engine", "parallel", "-o", path, tmp_path / "app.py")
    program = program_of(process)
    wait_until(process, lambda: points_of(path) >= moment)
    os.kill(process.pid if whom == "launcher" else program, signal.SIGKILL)
    finish(process)
    left = left_at(path)
    recording = Recording.open(left)
    assert list(rows(recording)) and as_json(recording)["steps"] >= moment
    assert recording.operation_count > 0
    replayed = reenact("replay", left)
    assert "the recording ends here" in replayed.stderr, replayed.stderr
    assert "exactly as recorded" in replayed.stderr
    if whom == "launcher":
        assert reenact("pack", left).code == 0
    converted = reenact("convert", path, "--to", "serial", "-o", tmp_path / "serial.reenact")
    assert converted.code == 0, converted.stderr
    again = reenact("replay", tmp_path / "serial.reenact")
    assert again.end_of_recording == replayed.end_of_recording, again.stderr
