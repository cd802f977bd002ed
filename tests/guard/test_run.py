"""`reenact run`: failures are run again, identically, and told; the program goes on or ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ..versions import IS_DEFAULT
from . import images
from .crashing import Crashes, crash
from .serving import AGAIN, serve

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
SHORT_TURNS = ("--slice", "5000")  # in points, so that threads meet in the same place each time


def line_of(program: str, text: str) -> int:
    lines = (PROGRAMS / program).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def run(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reenact", "run", *arguments],
        capture_output=True,
        text=True,
        input=typed,
        cwd=PROGRAMS,
        timeout=300,
    )


def looked_at(
    tmp_path: Path, seconds: float, program: str, *argv: str, asks: str = "None"
) -> dict[str, Any]:
    """What `driver.py` says of each failure, and what the program has printed."""
    said = tmp_path / "said.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.guard.driver", str(seconds), str(PROGRAMS / program), *argv],
        env={**os.environ, "SAID": str(said), "ASKED": asks, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    document: dict[str, Any] = json.loads(said.read_text("utf-8"))
    return {**document, "printed": done.stdout}


def test_a_program_that_does_well_runs_as_ever() -> None:
    done = run("well.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[0, 1, 2]\n", "")


@pytest.mark.parametrize("turns", [(), SHORT_TURNS])
def test_a_thread_that_never_waits_lets_others_have_their_turns(turns: tuple[str, ...]) -> None:
    done = run(*turns, "spinning.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "all have spoken\n", "")


def test_an_uncaught_exception_is_run_again_and_told() -> None:
    done = run(*SHORT_TURNS, "bank.py")
    assert done.returncode == 1
    assert "FAILED: AssertionError: " in done.stdout
    assert AGAIN.search(done.stdout)
    assert f"bank.py({line_of('bank.py', 'assert account')})<module>()" in done.stdout
    assert "account.balance is " in done.stdout
    race = done.stdout.partition("race on Account.balance")[2]
    assert f"bank.py:{line_of('bank.py', 'before = account')} in deposit" in race
    assert f"bank.py:{line_of('bank.py', 'account.balance = after')} in deposit" in race
    assert "1 failure in " in done.stderr


def test_a_server_under_load_goes_on_after_each_failure() -> None:
    """A full run: `python -m tests.guard.serving`."""
    requests, one_in = (2400, 400) if IS_DEFAULT else (960, 160)
    served = serve(requests=requests, one_in=one_in, epoch="5s")
    assert served.failures > 0
    assert served.is_well, served


def test_an_epoch_may_begin_while_threads_wait_for_the_outside(tmp_path: Path) -> None:
    seen = looked_at(tmp_path, 0.2, "states.py", "2")
    assert seen["exit"] == 1
    assert seen["epochs"] > 3
    (failure,) = seen["failures"]
    assert failure["reason"] == "END"
    assert failure["first"] > 0
    assert failure["why"] == "failure"
    assert failure["line"] == line_of("states.py", "raise ValueError")


@pytest.mark.parametrize("name", ["merge_sort", "semaphore"])
def test_a_re_execution_leaves_the_same_objects_at_the_same_addresses(name: str) -> None:
    """A longer list: `python -m tests.guard.images`."""
    image = images.look(name)
    assert not image.disagreement
    assert image.difference.compared > 1_000_000
    assert image.difference.differing == 0, image.difference.first


def test_crashes_by_a_race_are_seen_again_at_the_first_try() -> None:
    """Ten thousand of them: `python -m tests.guard.crashing`."""
    crashes = Crashes()
    crash(30, crashes)
    crash(1, crashes, "dying")
    assert crashes.is_well, crashes


def test_a_deadlock_is_run_again() -> None:
    done = run("deadlock.py")
    assert done.returncode == 122
    assert "FAILED: deadlock" in done.stdout
    assert AGAIN.search(done.stdout)
    waits = done.stdout.partition("what each thread waits for\n")[2].splitlines()[:3]
    taking = line_of("deadlock.py", "with other:")
    for thread, holder in ((1, 2), (2, 1)):
        assert f"which thread {holder} has), deadlock.py({taking})take()" in waits[thread]


@pytest.mark.parametrize(("name", "text"), [("SIGSEGV", "# dies here"), ("SIGABRT", "# or here")])
def test_a_fatal_signal_is_run_again(name: str, text: str) -> None:
    """In native code that a thread has called; the re-execution is killed as well."""
    done = run("dying.py", name)
    assert done.returncode == 128 + signal.Signals[name]
    assert f"FAILED: killed by {name}" in done.stdout
    assert AGAIN.search(done.stdout)
    last = done.stdout.partition("the last lines of the program's own")[2]
    assert f"dying.py:{line_of('dying.py', text)} " in last
    assert f"killed by {name}" in done.stderr
    assert "run again: 1 at the first try" in done.stderr


def test_a_re_execution_that_disagrees_is_told_as_such() -> None:
    done = run("--source", "random=passed", "--on-failure", "continue", "whimsical.py")
    assert not AGAIN.search(done.stdout)
    assert "was run again 3 times, and went another way each time" in done.stdout
    assert "it may not be what has happened" in done.stdout
    assert "run again: 1 went another way each time" in done.stderr
    done = run("--on-failure", "continue", "whimsical.py")
    assert AGAIN.search(done.stdout)


def test_guarded_blocks_and_threads_tell_of_exceptions() -> None:
    done = run("--on-failure", "continue", "caught.py")
    assert done.returncode == 0
    assert "FAILED: KeyError: 3" in done.stdout
    assert f"caught.py({line_of('caught.py', 'raise KeyError')})risky()" in done.stdout
    assert "FAILED: RuntimeError: nobody catches this" in done.stdout
    assert f"caught.py({line_of('caught.py', 'raise RuntimeError')})fail()" in done.stdout
    assert len(AGAIN.findall(done.stdout)) == 2
    assert done.stdout.endswith("the end\n")


def test_each_failure_is_shown_where_it_was() -> None:
    """Also if many are in one epoch, and two in one step."""
    done = run("--on-failure", "continue", "whims.py")
    assert done.returncode == 0, done.stderr
    reports = [each.splitlines() for each in done.stdout.split("FAILED: ")[1:]]
    risky = f"> whims.py({line_of('whims.py', 'raise error')})risky()"
    first, second = (line_of("whims.py", f'rollback("{word}")') for word in ("first", "second"))
    awaited = line_of("whims.py", "raise ValueError")
    assert [(each[0], each[2]) for each in reports] == [
        ("KeyError: 'it counts'", risky),
        ("Odd: (its str raised RuntimeError)", risky),
        ("first", f"> whims.py({first})<module>()"),
        ("second", f"> whims.py({second})<module>()"),
        (r"ValueError: of a coroutine \0 \udc80", f"> whims.py({awaited})awaited()"),
    ]
    assert len(AGAIN.findall(done.stdout)) == len(reports)
    assert "reenact: 5 failures in 2 epochs" in done.stderr
    assert reports[-1][-1] == "the end"


def test_a_failure_ends_the_program_unless_it_is_to_go_on() -> None:
    done = run("caught.py")
    assert done.returncode == 1
    assert "the end" not in done.stdout


def test_the_debugger_opens_at_the_failure() -> None:
    typed = "p account.balance\nreverse-step\nq\n"
    done = run(*SHORT_TURNS, "--on-failure", "debug", "bank.py", typed=typed)
    assert "(reenact " in done.stdout
    assert "<module>()" in done.stdout.partition("reverse-step")[2]


def test_without_run_nothing_of_it_happens() -> None:
    done = subprocess.run(
        [sys.executable, "caught.py"], capture_output=True, text=True, cwd=PROGRAMS, timeout=60
    )
    assert done.returncode == 0
    assert done.stdout == "the end\n"


@pytest.mark.parametrize("limit", ["0s", "5", "x mb"])
def test_limits_that_make_no_sense_are_refused(limit: str) -> None:
    done = run("--epoch", limit, "well.py")
    assert done.returncode == 2
    assert "give 5s, 32mb or 100000steps" in done.stderr


def test_no_process_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARK_OF_TEST", str(os.getpid()))
    done = run("--on-failure", "continue", "--epoch", "0.1s", "states.py", "0.5")
    assert "FAILED: ValueError" in done.stdout
    assert having(f"MARK_OF_TEST={os.getpid()}") == []


def having(variable: str) -> list[str]:
    """Processes with this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if variable.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
    return found
