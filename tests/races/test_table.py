"""The table of the race suite against the files, and each program in a plain run.

Owns what holds without a detector: the list is complete, every line that it names is there, and
every program ends well.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.races.table import DIRECTORY, PROGRAMS, Program

RACY = [program for program in PROGRAMS if program.races]
SAFE = [program for program in PROGRAMS if not program.races]


def test_every_file_is_in_the_table_once() -> None:
    files = sorted(path.stem for path in DIRECTORY.glob("*.py") if path.stem[0] != "_")
    assert sorted(program.name for program in PROGRAMS) == files


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(RACY) >= 66
    assert len(SAFE) >= 66


def test_names_say_what_a_program_is() -> None:
    assert all(program.name.endswith("_racy") for program in RACY)
    assert all(program.name.endswith("_safe") for program in SAFE)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_lines_that_are_named_are_those_that_race(program: Program) -> None:
    pairs = [(race.first, race.second) for race in program.races]
    pairs += [pair for race in program.races for pair in race.also]
    assert {name for pair in pairs for name in pair} == set(program.lines)
    marks = program.path.read_text().count("# at: ")
    assert marks == len(program.lines), "two lines have one name"


@pytest.mark.skipif(not os.environ.get("REENACT_FULL"), reason="REENACT_FULL=1 runs it")
def test_every_program_ends_well_without_a_word() -> None:
    """One process for all: each is forked from it, and run as a script is."""
    command = [sys.executable, "-m", "tests.races.plain", *(str(each.path) for each in PROGRAMS)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
