"""The parallel benchmarks: one result, whoever does the work, unless threads race."""

from __future__ import annotations

import subprocess
import sys

import pytest

from parallel_cases import CASES, PROGRAMS, Case, Point
from parallel_measure import result_of

TINY = 0.01


def run(words: list[str]) -> str:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("elapsed ")
    return result_of(done.stdout)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program)
def test_two_threads_find_what_one_finds(case: Case) -> None:
    alone, together = (run(case.words(threads, TINY)) for threads in (1, 2))
    assert alone.startswith("checksum ")
    assert case.is_racy or together == alone


def test_every_program_is_measured() -> None:
    parts = {"team", "corpus", "ditto_micro", "control"}
    programs = {path.stem for path in PROGRAMS.glob("*.py")}
    assert programs - parts == {case.program for case in CASES}
    assert len([case for case in CASES if case.group == "shared"]) >= 12


@pytest.mark.parametrize(
    "point",
    [Point("threads", "1"), Point("ratio", "4:1"), Point("fields", "9"), Point("processors", "1")],
    ids=lambda point: point.name,
)
def test_the_microbenchmark_takes_its_axes(point: Point) -> None:
    assert run(point.words(2, TINY)).startswith("loaded ")


def test_one_thread_of_the_microbenchmark_does_the_same_each_time() -> None:
    words = Point("threads", "1").words(1, TINY)
    assert run(words) == run(words)
    assert run([*words, "--seed", "2"]) != run(words)
    assert run([*words, "--pattern", "overlap"]) != run(words)
