"""Every program of the race suite by `reenact races`: all its races are found, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from reenact import strategies
from tests.races import judged
from tests.races.table import PROGRAMS, Program

FULL = bool(os.environ.get("REENACT_FULL"))
SEEDS = range(5) if FULL else range(1)


# What is not there yet. Each is taken off the list as it comes.
WAITING = {}
CASES = [
    pytest.param(
        program,
        id=program.name,
        marks=[pytest.mark.xfail(reason=WAITING[program.name])] if program.name in WAITING else [],
    )
    for program in PROGRAMS
]


@pytest.mark.parametrize("program", CASES)
def test_all_races_are_found_and_nothing_else(program: Program) -> None:
    for seed in SEEDS:
        assert judged.differences(program, "--strategy", "random", "--seed", str(seed)) == []


# Not run unless asked for: REENACT_FULL=1.
@pytest.mark.parametrize("program", CASES if FULL else [])
@pytest.mark.parametrize("strategy", strategies.BUILTIN)
@pytest.mark.parametrize("slice", ["1", "10000"])
def test_with_every_strategy(program: Program, strategy: str, slice: str) -> None:
    assert judged.differences(program, "--strategy", strategy, "--slice", slice) == []


def test_the_command_as_it_is_called() -> None:
    program = next(each for each in PROGRAMS if each.name == "attribute_racy")
    done = subprocess.run(
        [sys.executable, "-m", "reenact", "races", "--json", str(program.path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == 1
    assert judged.missing(program, found) == judged.unexpected(program, found) == []
