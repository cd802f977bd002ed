"""`reenact convert`, and what the other commands make of a recording of the parallel engine."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.engine.convert import convert
from reenact.errors import RecordingError
from reenact.recordings.pack import unpack
from reenact.recordings.reader import Recording

PROGRAM = """\
import threading
import time

lock = threading.Lock()
total = 0


def add():
    global total
    for _ in range(20):
        with lock:
            total += 1
    time.monotonic()


threads = [threading.Thread(target=add) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(total)
"""


@pytest.fixture(autouse=True)
def known_names() -> None:
    """Those of the core: the recordings are real."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("convert")
    (place / "app.py").write_text(PROGRAM)
    done = reenact(place, "record", "--engine", "parallel", "-o", "run.reenact", "app.py")
    assert done.stdout == "60\n", done.stderr
    assert " operations of 4 threads in run.reenact" in done.stderr
    return place


def reenact(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reenact", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=place)


def test_a_serial_recording_is_made(place: Path) -> None:
    made = reenact(place, "convert", "run.reenact", "--to", "serial", "-o", "serial.reenact")
    assert (made.returncode, made.stderr) == (0, "")
    before, after = Recording.open(place / "run.reenact"), Recording.open(place / "serial.reenact")
    assert (after.header.engine, after.header.order) == ("converted", "sync")
    assert after.is_packed and not after.problems
    assert after.operation_count == len(list(after.events())) == before.operation_count
    assert after.last_step == before.last_step
    assert sorted(after.thread_paths()) == sorted(before.thread_paths())
    replayed = reenact(place, "replay", "serial.reenact")
    assert replayed.stdout == "60\n"
    assert "exactly as recorded" in replayed.stderr
    again = reenact(place, "convert", "serial.reenact", "--to", "serial", "-o", "x.reenact")
    assert again.returncode == 2
    assert "is a converted recording: there is nothing to convert" in again.stderr


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("run.reenact", "--to", "serial", "-o", "."), 2, "is a directory"),
        (("run.reenact", "--to", "serial", "-o", "app.py"), 2, "is there already"),
        (("run.reenact", "--to", "serial", "-o", "no/x.reenact"), 2, "cannot be written"),
        (("run.reenact", "--to", "parallel", "-o", "x"), 2, "invalid choice: 'parallel'"),
        (("run.reenact", "--to", "serial"), 2, "required: -o"),
        (("none.reenact", "--to", "serial", "-o", "x"), 121, "[recording-missing]"),
        (("app.py", "--to", "serial", "-o", "x"), 121, "[recording-foreign]"),
    ],
)
def test_what_cannot_be_done(place: Path, words: tuple[str, ...], code: int, text: str) -> None:
    done = reenact(place, "convert", *words)
    assert done.returncode == code
    assert text in done.stderr


def test_other_commands_convert_by_themselves(place: Path) -> None:
    assert "exactly as recorded" in reenact(place, "replay", "run.reenact").stderr
    lines = reenact(place, "dump", "run.reenact", "--json").stdout.splitlines()
    assert json.loads(lines[0])["path"] == "run.reenact"
    assert any(json.loads(line)["type"] == "switch" for line in lines)
    assert "no races" in reenact(place, "races", "run.reenact").stderr
    assert "run.reenact: " in reenact(place, "debug", "run.reenact", "-c", "quit").stdout


@pytest.mark.parametrize("order", ["sync", "ditto"])
def test_races_are_found_in_a_parallel_recording(place: Path, order: str) -> None:
    (place / "racy.py").write_text(PROGRAM.replace("with lock:", "if lock:"))
    path = f"racy-{order}.reenact"
    reenact(place, "record", "--engine", "parallel", "--order", order, "-o", path, "racy.py")
    found = reenact(place, "races", path)
    assert found.returncode == 1, found.stderr
    assert "race on global total" in found.stderr
    assert "threading.py" not in found.stderr  # what has sites for the order alone is not told


def test_info_says_what_it_is(place: Path) -> None:
    page = reenact(place, "info", "run.reenact").stdout
    assert "\nengine       parallel, order sync\n" in page
    assert "\nswitches" not in page and "\nsteps" not in page and "\nstrategy" not in page
    found = json.loads(reenact(place, "info", "run.reenact", "--json").stdout)
    assert (found["header"]["engine"], found["header"]["order"]) == ("parallel", "sync")
    assert found["steps"] > found["operations"] > 100
    assert (found["threads"], found["switches"]) == (4, 0)


def test_an_order_is_for_the_parallel_engine(place: Path) -> None:
    done = reenact(place, "record", "--order", "sync", "app.py")
    assert done.returncode == 2
    assert "Say --engine parallel, too." in done.stderr


def test_damaged_lanes_end_in_an_error(place: Path, tmp_path: Path) -> None:
    directory = unpack(place / "run.reenact", tmp_path / "run")
    whole = (directory / "lanes").read_bytes()
    faults = set()
    for number in range(150):
        chance = random.Random(number)
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3))):
            data[chance.randrange(64, len(data))] ^= 1 << chance.randrange(8)
        (directory / "lanes").write_bytes(data[: chance.choice((len(data), 64 + number))])
        try:
            convert(Recording.open(directory), tmp_path / f"serial-{number}")
        except RecordingError as error:
            faults.add(error.fault)
    assert "damaged" in faults
    assert faults <= {"damaged", "truncated"}
