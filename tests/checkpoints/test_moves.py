"""Wherever one travels, and by which way, the program is what it was there.

With REENACT_FULL=1, or by `full.py`, all programs of `tests/programs` and 200 places of each.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .harness import IS_FULL, QUEUE, RANDOM, Pool, Variant, programs
from .last_writes import UNTRACEABLE, check_last_writes
from .moving import (
    OWN_TRACE,
    check_gotos,
    check_questions_amid_imports,
    check_reverse,
    check_write_after_call,
    check_writes,
)

FEW = (
    *("asyncio_threadsafe", "condition_timeout", "deadlock_two_locks", "exit_os_exit"),
    *("gc_cycles", "input_files_modes", "input_signals_own", "input_signals_raising"),
    *("queue_fifo", "race_generator", "thread_local", "weakref_callbacks"),
)
CASES = {
    each.name: each
    for each in programs()
    if each.name in FEW or (IS_FULL and each.name not in OWN_TRACE)
}
PLACES, STOPS, WRITES = (200, 20, 200) if IS_FULL else (6, 4, 8)
FEW_TRACED = ("queue_fifo", "race_generator", "thread_local")
TRACED = [each for each in CASES if each not in UNTRACEABLE] if IS_FULL else FEW_TRACED


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(2) as pool:
        yield pool


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_random_places_are_as_in_a_replay_without_stops(name: str, pool: Pool) -> None:
    journey = pool.submit(check_gotos, CASES[name], RANDOM, PLACES).result()
    assert journey.looked > 0
    assert not journey.complaints, "\n".join(journey.complaints)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_the_way_back_is_the_way_forward(name: str, pool: Pool) -> None:
    journey = pool.submit(check_reverse, CASES[name], RANDOM, STOPS).result()
    assert journey.looked > 0
    assert not journey.complaints, "\n".join(journey.complaints)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("variant", [QUEUE, RANDOM], ids=["queue", "random"])
def test_the_last_write_is_the_one_that_the_value_tells_of(variant: Variant, pool: Pool) -> None:
    journey = pool.submit(check_writes, variant, WRITES).result()
    assert journey.looked > 3
    assert not journey.complaints, "\n".join(journey.complaints)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", TRACED)
def test_the_last_write_is_the_one_that_a_trace_of_all_writes_has(name: str, pool: Pool) -> None:
    journey = pool.submit(check_last_writes, CASES[name], RANDOM, 20 if IS_FULL else 3).result()
    assert not journey.complaints, "\n".join(journey.complaints)


@pytest.mark.timeout(0)
def test_a_write_after_a_call_is_found_from_the_step_of_the_call(pool: Pool) -> None:
    journey = pool.submit(check_write_after_call, QUEUE).result()
    assert journey.looked == 1
    assert not journey.complaints, "\n".join(journey.complaints)


@pytest.mark.timeout(0)
def test_questions_are_answered_amid_imports(pool: Pool) -> None:
    journey = pool.submit(check_questions_amid_imports, QUEUE, 12).result()
    assert journey.looked > 6
    assert not journey.complaints, "\n".join(journey.complaints)
