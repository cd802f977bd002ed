"""Every program of `tests/programs`, recorded a few times, replays just as it was.

Sizes: this file makes three recordings of each program with one replay each; on other versions than
the default one it makes one, and programs that are recorded with one strategy on one version are
recorded with the other one on the next. With REENACT_FULL=1 those of `full.py`, which takes about
half an hour.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from tests.free_threaded import HAS_GIL
from tests.versions import IS_DEFAULT

from .full import BIG, FULL_REPLAYS, FULL_VARIANTS
from .harness import Pool, Variant, cycle, programs

IS_FULL = os.environ.get("REENACT_FULL", "") not in ("", "0")
FEW_VARIANTS = (Variant("random", seed=1), Variant("queue", slice=50), Variant("random", seed=2))
TURN = sys.version_info.minor + (not HAS_GIL)
REPLAYS = FULL_REPLAYS if IS_FULL else 1
CASES = {program.name: program for program in (*programs(), *(BIG if IS_FULL else ()))}


def variants(name: str) -> tuple[Variant, ...]:
    if IS_FULL:
        return FULL_VARIANTS
    turn = (list(CASES).index(name) + TURN) % 2
    return FEW_VARIANTS if IS_DEFAULT else FEW_VARIANTS[turn : turn + 1]


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.shutdown(cancel_futures=True)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_replays_exactly(name: str, pool: Pool) -> None:
    cycles = [pool.submit(cycle, CASES[name], variant, REPLAYS) for variant in variants(name)]
    complaints = [line for each in cycles for line in each.result().complaints]
    assert not complaints, "\n".join(complaints)
