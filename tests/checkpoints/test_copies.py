"""Copies of a process with all its threads go on as the process itself does.

A few copies of each program; with REENACT_FULL=1, or by `full.py`, a thousand.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .copying import (
    check_copies,
    check_copies_at_once,
    check_copies_without_the_first_thread,
    check_leaks,
)
from .harness import IS_FULL, QUEUE, RANDOM, Pool, Program, Variant, own, programs

CASES = {
    "2 threads": own("busy", "2", "60"),
    "8 threads": own("busy", "8", "24"),
    "32 threads": own("busy", "32", "12"),
    "2 threads, numpy": own("busy", "2", "14", "numpy"),
    "8 threads, numpy": own("busy", "8", "14", "numpy"),
    "32 threads, numpy": own("busy", "32", "7", "numpy"),
    "files": own("files"),
    "forks": own("forks"),
    "memory": own("shared_memory"),
    "native": own("native"),
    "asyncio": next(each for each in programs() if each.name == "asyncio_executor"),
    "recursion": own("deep"),
}
COPIES, EVERY = (1000, 1) if IS_FULL else (20, 4)
SLOW = ("2 threads, numpy", "8 threads, numpy")  # to import numpy takes seconds


def cases() -> Iterator[tuple[str, Variant]]:
    for name in CASES:
        if IS_FULL or name not in SLOW:
            yield name, QUEUE
            if "numpy" not in name:
                yield name, RANDOM


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("name", "variant"), [*cases()], ids=lambda given: getattr(given, "strategy", given)
)
def test_every_copy_comes_to_the_same_end(name: str, variant: Variant, pool: Pool) -> None:
    outcome = pool.submit(check_copies, CASES[name], variant, COPIES, EVERY, 4).result()
    print(f"{name}, {variant.strategy}: {outcome.copies} copies, {outcome.ran} ran to the end")
    assert outcome.copies == COPIES
    assert outcome.ran == COPIES // EVERY
    assert not outcome.complaints, "\n".join(outcome.complaints)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", ["8 threads", "32 threads"])
def test_threads_that_are_about_to_run_are_copied_as_well(name: str, pool: Pool) -> None:
    outcome = pool.submit(check_copies_at_once, CASES[name], 40).result()
    assert not outcome.complaints, "\n".join(outcome.complaints)
    assert outcome.copies == 39


@pytest.mark.timeout(0)
def test_copies_can_be_copied_when_their_first_thread_has_ended(pool: Pool) -> None:
    outcome = pool.submit(check_copies_without_the_first_thread, CASES["native"], 12).result()
    assert not outcome.complaints, "\n".join(outcome.complaints)
    assert outcome.copies == 11


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", ["8 threads", "files"])
def test_nothing_leaks(name: str, pool: Pool) -> None:
    program: Program = CASES[name]
    copies, settled = (10_000, 1000) if IS_FULL else (150, 50)
    outcome = pool.submit(check_leaks, program, copies, settled).result()
    print(f"{name}: after {settled} and {copies} copies {outcome.notes}")
    assert outcome.copies == copies
    assert not outcome.complaints, "\n".join(outcome.complaints)
