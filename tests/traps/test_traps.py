"""Never a false fine: programs that a careless search would call fine, and what `explore` says.

Owns the promise that a bug is found or what escaped us is named, and that neither ends with 0. Each
program of `programs/` says in its first line what is wrong; the tables here say what must come out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DIRECTORY = Path(__file__).parent / "programs"
TIMEOUT_S = 120
QUICK = ("--runs", "150", "--shrink", "10", "--hang", "20")


@dataclass(frozen=True)
class Said:
    """What the command said, and how it ended."""

    code: int
    words: dict[str, Any]

    @property
    def kind(self) -> str:
        failure = self.words["failure"]
        return "" if failure is None else str(failure["kind"])

    @property
    def reasons(self) -> str:
        return "; ".join(self.words["reasons"])


def explored(name: str, place: Path, *options: str) -> Said:
    script = str(DIRECTORY / f"{name}.py")
    done = subprocess.run(
        [sys.executable, "-m", "reenact", "explore", *QUICK, *options, "--json", script],
        cwd=place,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.stdout, done.stderr
    return Said(done.returncode, json.loads(done.stdout))


BUGS = {
    "add_to_attribute": "assertion",
    "add_to_closure": "assertion",
    "add_to_global": "assertion",
    "add_to_item": "assertion",
    "crashes": "exit",
    "daemon_fails_at_end": "exception",
    "daemon_fails_late": "exception",
    "exits_badly": "exit",
    "exits_badly_at_once": "exit",
    "iteration": "exception",
    "iteration_in_comprehension": "exception",
    "killed": "exit",
    "lost_wake_up": "deadlock",
    "membership": "assertion",
    "nested_thread": "assertion",
    "own_excepthook_main": "assertion",
    "own_excepthooks": "exception",
    "raw_thread": "exception",
    "scheduler": "assertion",
    "setdefault": "assertion",
    "setdefault_by_hand": "assertion",
    "socket_for_ever": "deadlock",
    "stops_threads_late": "assertion",
    "swallows_deadlock": "deadlock",
    "swallows_exception": "assertion",
    "swallows_for_ever": "deadlock",
    "thread_pool": "assertion",
    "timeout_and_notify": "assertion",
    "timer": "assertion",
}

ESCAPES = {
    "atexit_fails": "an exception was never looked at",
    "daemon_runs_on": "a daemon thread was still running at the end",
    "executor_nobody_asks": "it stayed in a future: ValueError: one is lost",
    "exits_well_at_once": "the program ended by os._exit",
    "fails_once": "did not fail again with the same choices (AssertionError)",
    "finalizer_fails": "an exception was never looked at",
    "fork_returns": "the program forks a process, which is not explored",
    "forks": "the program forks a process, which is not explored",
    "other_steps_each_time": "something outside our control decides",
    "pool_nobody_asks": "it stayed in the result of a pool: ValueError: one is lost",
    "subprocess_races": "the program starts a process, which is not explored",
    "thread_of_c": "a thread that Python did not start runs Python code",
    "thread_of_c_with_lock": "a thread that Python did not start runs Python code",
}

ENDLESS = ("livelock", "livelock_always", "long", "loop_forever", "loop_without_points")
FINE = ("setdefault_alone", "spin")


def test_every_program_is_in_a_table_once() -> None:
    files = sorted(path.stem for path in DIRECTORY.glob("*.py"))
    assert sorted([*BUGS, *ESCAPES, *ENDLESS, *FINE]) == files


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_found(name: str, tmp_path: Path) -> None:
    said = explored(name, tmp_path)
    assert (said.code, said.kind) == (1, BUGS[name]), said.words
    assert said.words["verdict"] == "failed"


@pytest.mark.parametrize("name", ESCAPES)
def test_what_escapes_is_named(name: str, tmp_path: Path) -> None:
    said = explored(name, tmp_path)
    assert said.code == 3, said.words
    assert said.words["verdict"] == "inconclusive"
    assert ESCAPES[name] in said.reasons
    assert not said.words["coverage"]["exhausted"]


@pytest.mark.parametrize("name", FINE)
def test_what_is_fine_is_fine(name: str, tmp_path: Path) -> None:
    said = explored(name, tmp_path)
    assert said.code == 0, said.words
    assert said.words["verdict"] == "passed"


def test_a_livelock(tmp_path: Path) -> None:
    said = explored("livelock", tmp_path, "--step-limit", "3000")
    assert (said.code, said.kind) == (1, "livelock"), said.words


@pytest.mark.parametrize("name", ["livelock_always", "loop_forever", "loop_without_points"])
def test_a_loop_that_never_ends_is_no_hang(name: str, tmp_path: Path) -> None:
    said = explored(name, tmp_path, "--hang", "2")
    assert said.code == 3, said.words
    assert "a run did not end within 2 seconds of real time" in said.reasons
    assert said.words["coverage"]["complete"] == 0


def test_a_step_limit_that_no_run_keeps(tmp_path: Path) -> None:
    said = explored("long", tmp_path, "--step-limit", "100")
    assert said.code == 3, said.words
    assert "no run came to its end within the step limit" in said.reasons


def test_the_same_program_with_a_limit_that_it_keeps(tmp_path: Path) -> None:
    assert explored("long", tmp_path, "--runs", "20").code == 0


def test_no_time_for_a_single_run(tmp_path: Path) -> None:
    said = explored("spin", tmp_path, "--seconds", "0")
    assert said.code == 3, said.words
    assert "no run was made within the limits" in said.reasons


def test_a_bug_that_is_out_of_reach_of_the_limits_is_not_called_exhausted(tmp_path: Path) -> None:
    said = explored("add_to_global", tmp_path, "--strategy", "dpor", "--runs", "1")
    assert said.words["coverage"]["runs"] == 1
    assert not said.words["coverage"]["exhausted"]
