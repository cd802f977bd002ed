"""`reenact replay` of what the parallel engine recorded: races, tries, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.free_threaded import HAS_GIL

from .test_record_replay import Workplace

LOST = """\
import sys, threading
from zlib import crc32
sys.setswitchinterval(1e-5)
counter = 0
def work():
    global counter
    for _ in range(3000):
        value = counter
        crc32(b"abc")
        counter = value + 1
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counter", counter)
"""
# Who appends when: nothing tells but the time.
TIMED = """\
import threading, time
log = []
def work(number):
    time.sleep((number * 7 % 5 + 1) * 0.06)
    log.append(number)
threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(log)
"""


@pytest.fixture
def work(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def record(work: Workplace, source: str, *more: str) -> str:
    """What it printed."""
    options = ("--engine", "parallel", "-o", "run.reenact", *more)
    return work.run("record", *options, work.write(source)).stdout


def replayed(work: Workplace, *options: str) -> dict[str, object]:
    done = work.run("replay", "--json", *options, "run.reenact")
    result: dict[str, object] = json.loads(done.stdout)
    assert result["exit_code"] == done.returncode
    return result


@pytest.mark.skipif(HAS_GIL, reason="hints say more there")
def test_what_happened_first_is_found_by_the_time(work: Workplace) -> None:
    """In code without sites, as that which is known to its threads."""
    printed = record(work, TIMED, "--no-instrument")
    found = replayed(work, "--tries", "3")
    assert (found["exit_code"], found["tries"]) == (0, 2)
    assert work.run("replay", "run.reenact").stdout == printed


@pytest.mark.skipif(HAS_GIL, reason="hints say more there")
def test_what_happened_first_is_known_of_new_code(work: Workplace) -> None:
    printed = record(work, TIMED)
    done = work.run("replay", "--tries", "1", "run.reenact")
    assert (done.returncode, done.stdout) == (0, printed)


@pytest.mark.skipif(not HAS_GIL, reason="a race is found by chance alone there")
def test_updates_that_were_lost_are_lost_again(work: Workplace) -> None:
    """No point lies between the read and the write."""
    printed = record(work, LOST)
    done = work.run("replay", "run.reenact")
    assert done.returncode == 0
    assert done.stdout == printed


def test_tries_are_told_and_only_one_of_them_is_shown(work: Workplace) -> None:
    record(work, "print('once')\nprint('recorded')\n")
    work.write("print('once')\nprint('another')\n")
    done = work.run("replay", "--tries", "3", "run.reenact")
    assert done.returncode == 120
    assert done.stdout == "once\nanother\n"
    assert "not found in 3 tries" in done.stderr
    assert done.stderr.count("standard output differs") == 1


def test_tries_in_json(work: Workplace) -> None:
    record(work, "print('recorded')\n")
    result = replayed(work)
    assert (result["tries"], result["diverged"], result["differences"]) == (1, False, [])
    assert result["order"] == "sync"
    work.write("print('another')\n")
    result = replayed(work, "--tries", "2")
    assert (result["tries"], result["diverged"]) == (2, True)
    assert result["differences"] == [
        {"stream": "standard output", "line": 1, "recorded": "recorded", "replayed": "another"}
    ]


def test_what_the_serial_engine_recorded_is_tried_once(work: Workplace) -> None:
    work.record("print('recorded')\n")
    work.write("print('another')\n")
    assert replayed(work, "--tries", "5")["tries"] == 1


def test_another_exit_code_is_a_difference(work: Workplace) -> None:
    record(work, "raise SystemExit(3)\n")
    work.write("raise SystemExit(4)\n")
    result = replayed(work, "--tries", "1")
    assert result["diverged"] is True
    assert result["differences"] == [
        {"stream": "exit code", "line": 0, "recorded": "3", "replayed": "4"}
    ]


def test_at_least_one_try_is_made(work: Workplace) -> None:
    record(work, "pass\n")
    assert work.run("replay", "--tries", "0", "run.reenact").returncode == 2
