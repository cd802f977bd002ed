"""Without a GIL, `sync` takes note of accesses while code is new to a thread, and no longer."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.instrument.loader import COLD_CODE
from reenact.pyversion import HAS_GIL
from reenact.recordings.reader import Recording

pytestmark = pytest.mark.skipif(HAS_GIL, reason="hints say there which thread was first")

# The race begins long after the loop is known.
LATE_RACE = """
import threading

class Box:
    count = 0

box = Box()
def work(name):
    total = 0
    for turn in range(6000):
        total += turn
        if turn > 5000:
            box.count = box.count + 1
threads = [threading.Thread(target=work, args=(name,)) for name in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


def reenact(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reenact", *words]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(LATE_RACE)
    return tmp_path


def points(place: Path, *options: str) -> int:
    path = "-".join(("run", *options)) + ".reenact"
    done = reenact(place, "record", "--engine", "parallel", *options, "-o", path, "app.py")
    assert done.returncode == 0, done.stderr
    shown = reenact(place, "info", path).stdout
    found = re.search(r"^points +([\d,]+)$", shown, re.MULTILINE)
    assert found is not None, shown
    return int(found[1].replace(",", ""))


def test_code_that_is_known_has_no_sites(place: Path) -> None:
    ticks = 2 * 6000
    accesses = 2 * 3 * 1000  # the object as a global, its attribute read and written
    assert ticks <= points(place) < ticks + accesses / 2
    assert points(place, "--order", "ditto") > ticks + accesses


def test_replays_are_in_step(place: Path) -> None:
    points(place)
    done = reenact(place, "replay", "--tries", "1", "run.reenact")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_races_in_known_code_are_found(place: Path) -> None:
    points(place)
    done = reenact(place, "races", "--json", "run.reenact")
    found = json.loads(done.stdout)
    races = [each for each in found["findings"] if each["kind"] == "race"]
    lines = {each[side]["line"] for each in races for side in ("first", "second")}
    assert lines == {13}, done.stderr


def test_who_wants_no_points_has_no_accesses(place: Path) -> None:
    assert points(place, "--no-instrument") < 1000
    header = Recording.open(place / "run---no-instrument.reenact").header
    assert COLD_CODE not in header.instrument.packages


PRINTING = """
import builtins, inspect, pickle
print(print, print.__module__, inspect.signature(print))
assert pickle.loads(pickle.dumps(print)) is print is builtins.print and "stream" in print.__doc__
"""


def test_print_looks_as_ever(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PRINTING)
    plain = subprocess.run([sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True)
    done = reenact(tmp_path, "record", "--engine", "parallel", "-o", "run.reenact", "app.py")
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
