"""Every program of `tests/programs`, recorded a few times, replays just as it was.

Sizes: this file makes three recordings of each program with one replay each; with REENACT_FULL=1
it makes those of `full.py`, which takes about half an hour.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from .full import BIG, FULL_REPLAYS, FULL_VARIANTS
from .harness import Cycle, Pool, Program, Variant, cycle, programs

IS_FULL = os.environ.get("REENACT_FULL", "") not in ("", "0")
VARIANTS = (
    FULL_VARIANTS
    if IS_FULL
    else (
        Variant("random", seed=1),
        Variant("random", seed=2),
        Variant("queue", slice=50),
    )
)
REPLAYS = FULL_REPLAYS if IS_FULL else 1
CASES = {program.name: program for program in (*programs(), *(BIG if IS_FULL else ()))}

Futures = dict[str, list[Future[Cycle]]]


@pytest.fixture(scope="session")
def cycles(request: pytest.FixtureRequest) -> Iterator[Futures]:
    """The cycles of all programs that were selected, run side by side."""
    wanted = [item.callspec.params["name"] for item in request.session.items if _is_ours(item)]
    pool = Pool()
    yield {name: _submit(pool, CASES[name]) for name in wanted}
    pool.shutdown(cancel_futures=True)


def _is_ours(item: pytest.Item) -> bool:
    return item.path == Path(__file__)


def _submit(pool: Pool, program: Program) -> list[Future[Cycle]]:
    return [pool.submit(cycle, program, variant, REPLAYS) for variant in VARIANTS]


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_replays_exactly(name: str, cycles: Futures) -> None:
    complaints = [line for future in cycles[name] for line in future.result().complaints]
    assert not complaints, "\n".join(complaints)
