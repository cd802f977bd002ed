"""Races found over a recording are those found live: every program of `tests/programs`.

The live run leaves a recording that says nothing of the detector; its replay has the detector on
again, or for the first time. Either way the schedule is the same, so must be what is found.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reenact.engine import launch, races
from reenact.inputs import Inputs
from reenact.recordings.reader import Recording

from ..fidelity.harness import PROGRAMS, Pool, Program, Variant, captured, programs

CASES = {program.name: program for program in programs()}
VARIANT = Variant("random", seed=1, slice=50)


def both(program: Program) -> tuple[list[str], list[str], str]:
    """What is found live and later, and what is wrong with the replay."""
    target = launch.Program(
        "script", str(program.path), program.args, inputs=Inputs(boundary=program.boundary)
    )
    with tempfile.TemporaryDirectory(prefix="reenact-races-") as scratch:
        path = Path(scratch, "run.reenact")
        with captured(Path(scratch, "live"), program.stdin):
            os.chdir(PROGRAMS)
            live = races.live(target, VARIANT.choices(), path=path)
        with captured(Path(scratch, "later")):
            later, replayed = races.over(Recording.open(path))
        os.chdir("/")
    wrong = "the replay diverged" if replayed.has_diverged else ""
    return told(live.raw), told(later.raw), wrong


def told(raw: dict[str, Any] | None) -> list[str]:
    if raw is None:
        return ["nothing was said"]
    return sorted(_line(race) for race in raw["races"])


def _line(race: dict[str, Any]) -> str:
    variable = race["variable"]
    # a replay does not call what is behind a boundary: outer frames may be missing
    accesses = [(a["thread"], a["mode"], a["stack"][0], a["locks"]) for a in _accesses(race)]
    return repr((race["count"], variable["kind"], variable["type"], variable["name"], accesses))


def _accesses(race: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield race["first"]
    yield race["second"]


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.shutdown(cancel_futures=True)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_the_same_races_are_found_live_and_later(name: str, pool: Pool) -> None:
    live, later, wrong = pool.submit(both, CASES[name]).result()
    assert not wrong
    assert later == live


def test_there_are_races_to_be_found(pool: Pool) -> None:
    """Else the comparison would show nothing."""
    live, later, wrong = pool.submit(both, CASES["ditto_microbenchmark"]).result()
    assert live and later and not wrong
