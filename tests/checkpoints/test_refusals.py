"""Where processes cannot be copied, memory is short, files are damaged or the front-end dies."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reenact.debug.checkpoints import NOT_HELD
from reenact.debug.traveller import Breakpoint, Move, Place, Traveller
from reenact.errors import ReenactError
from reenact.recordings.reader import Recording

from ..conftest import SOURCES
from .harness import QUEUE, Pool, leftovers, own, recorded, seen_in, start, travelling

HERE = Path(__file__).resolve().parent
PROGRAM = own("busy", "3", "12")


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


def journey(path: Path, refuses: bool) -> tuple[str, list[str]]:
    """Where a traveller comes to, with copies or without."""
    program, opened = own("writes"), Recording.open(path)
    if refuses:
        before = opened.header.environment.get("PYTHONPATH", SOURCES)
        environment = {**opened.header.environment, "PYTHONPATH": f"{HERE / 'refusing'}:{before}"}
        opened.header = replace(opened.header, environment=environment)
    with Traveller(opened) as traveller:
        stops = [traveller.open()]
        stops += [traveller.go_to(place) for place in (30, Place(60, 2), 7, 0)]
        line = program.path.read_text("utf-8").splitlines().index("    kept = noted()") + 1
        traveller.breakpoints = {1: Breakpoint(1, str(program.path), line)}
        traveller.go_to_end()
        stops += [traveller.backward(), traveller.backward(), traveller.forward()]
        said = [f"{each.place} {each.why} {each.thread} {each.stack}" for each in stops]
        return traveller.refusal, [*said, str(len(leftovers()) > 1)]


@pytest.mark.timeout(0)
def test_without_copies_everything_is_done_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "writes.reenact"
    words = ["-m", "reenact", "record", "--slice", "50", "-o", path, own("writes").path]
    subprocess.run([sys.executable, *map(str, words)], capture_output=True, check=True)
    with Pool(1) as first, Pool(1) as second:
        usual, refused = (
            first.submit(journey, path, False).result(),
            second.submit(journey, path, True).result(),
        )
    assert usual[0] == ""
    assert refused[0] == "told to by a test"
    assert usual[1][-1] == "True"
    assert refused[1][-1] == "False"
    assert refused[1][:-1] == usual[1][:-1]


def past_an_unreachable_thread() -> tuple[str, str, str, str]:
    """Why there are no copies where there is such a thread; what is seen there, and at the end."""
    program = own("unreachable")
    with travelling(program, QUEUE) as traveller:
        end = traveller.go_to_end()
        line = program.path.read_text("utf-8").splitlines().index("    total += number") + 1
        there = Breakpoint(1, str(program.path), line, "number == 150")
        traveller.breakpoints = {1: there}
        traveller.backward()
        said = traveller.ask("evaluate", text="number", thread=0)["value"]
        back = traveller.backward(Move(thread=0))
        return traveller.refusal, end.why, said, back.why


@pytest.mark.timeout(0)
def test_a_thread_that_cannot_be_held_is_said_and_gone_around(pool: Pool) -> None:
    refusal, end, value, back = pool.submit(past_an_unreachable_thread).result()
    assert refusal == NOT_HELD
    assert (end, value, back) == ("end", "150", "step")


def kept_with(limit_mb: int) -> tuple[int, str]:
    with recorded(own("heap"), QUEUE) as recording, Traveller(recording, limit_mb) as traveller:
        last = recording.last_step
        for number in range(12):
            traveller.go_to(last * number // 12)
        expected = start(traveller)
        expected.run(last // 2)
        traveller.go_to(last // 2)
        now, then = traveller.ask("output")["output"], seen_in(expected).output
        return len(traveller.checkpoints), "" if now == then else "another output"


@pytest.mark.timeout(0)
def test_the_limit_of_memory_is_kept(pool: Pool) -> None:
    few, many = pool.submit(kept_with, 1), pool.submit(kept_with, 4096)
    assert few.result() == (4, "")
    assert many.result()[0] > 8


def is_there(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.timeout(0)
@pytest.mark.parametrize("how", ["idle", "asking"])
def test_no_process_outlives_a_front_end_that_is_killed(how: str, tmp_path: Path) -> None:
    path = tmp_path / "run.reenact"
    words = [str(PROGRAM.path), *PROGRAM.args]
    record = [sys.executable, "-m", "reenact", "record", "-o", str(path), *words]
    subprocess.run(record, check=True, capture_output=True)
    command = [sys.executable, "-m", "tests.checkpoints.frontend", str(path), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=HERE.parent.parent) as front_end:
        assert front_end.stdout is not None
        pids = [int(word) for word in front_end.stdout.readline().split()]
        assert len(pids) > 2
        assert all(map(is_there, pids))
        front_end.kill()
    while any(map(is_there, pids)):  # for ever, if one stays
        time.sleep(0.01)


def travel_through_damage(seed: int) -> str:
    """Whatever is wrong with a recording, it is an error of ours."""
    chosen = random.Random(seed)
    with recorded(PROGRAM, QUEUE) as recording:
        data = bytearray(recording.path.read_bytes())
        for _ in range(1 + seed % 5):
            data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
        damaged = recording.path.with_name("damaged.reenact")
        damaged.write_bytes(data[: chosen.choice((len(data), len(data) * 2 // 3))])
        try:
            with Traveller(Recording.open(damaged)) as traveller:
                traveller.open()
                traveller.go_to(20)
                return traveller.go_to_end().why
        except ReenactError:
            return "error"


@pytest.mark.timeout(0)
def test_a_damaged_recording_is_an_error_or_a_divergence(pool: Pool) -> None:
    results = [each.result() for each in [pool.submit(travel_through_damage, i) for i in range(12)]]
    assert "error" in results
    assert set(results) <= {"error", "end", "divergence", "deadlock", "failure"}
