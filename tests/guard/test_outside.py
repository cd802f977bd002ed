"""What an epoch does to files, memory, locks and processes: a re-execution sees what it saw, and
nothing is done twice."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from .test_run import AGAIN, looked_at, run

WAYS = [
    "overwritten",
    "changed_in_place",
    "appended",
    "unlinked",
    "closed",
    "locked",
    "forked",
    "started",
    "mapped",
]


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    place = tmp_path_factory.mktemp("outside")
    return looked_at(place, 0, "outside.py", *WAYS, asks="__import__('__main__').seen")


@pytest.fixture(scope="module")
def told(looked: dict[str, Any]) -> dict[str, tuple[str, str]]:
    lines = (line.split(" ", 2) for line in looked["printed"].splitlines())
    return {way: (is_as_before, seen) for way, is_as_before, seen in lines}


def test_each_way_has_an_epoch_of_its_own(looked: dict[str, Any]) -> None:
    assert [each["text"] for each in looked["failures"]] == WAYS
    assert looked["exit"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_a_re_execution_sees_what_was_seen(
    way: str, looked: dict[str, Any], told: dict[str, tuple[str, str]]
) -> None:
    failure = next(each for each in looked["failures"] if each["text"] == way)
    assert (failure["reason"], failure["why"]) == ("END", "end")
    is_as_before, seen = told[way]
    assert ast.literal_eval(failure["value"]) == ast.literal_eval(seen)
    assert is_as_before == "True"


def test_what_cannot_be_done_twice_ends_the_epoch(tmp_path: Path) -> None:
    """Of a source that is passed nothing is in the log: each mkdir and rmdir begins an epoch."""
    options = ("--on-failure", "continue", "--source", "files=passed")
    done = run(*options, "removing.py", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "FAILED: left: []" in done.stdout
    assert AGAIN.search(done.stdout)
    assert "1 failure in 7 epochs" in done.stderr


def test_what_is_in_the_log_ends_no_epoch(tmp_path: Path) -> None:
    done = run("--on-failure", "continue", "removing.py", str(tmp_path))
    assert AGAIN.search(done.stdout)
    assert "1 failure in 1 epoch" in done.stderr
