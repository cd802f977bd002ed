"""Every program of `tests/programs`, recorded a few times, replays just as it was.

Sizes: this file makes three recordings of each program with one replay each, two on other versions
than the default one; with REENACT_FULL=1 those of `full.py`, which takes about half an hour.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from tests.conftest import DEFAULT

from .full import BIG, FULL_REPLAYS, FULL_VARIANTS
from .harness import Pool, Variant, cycle, programs

IS_FULL = os.environ.get("REENACT_FULL", "") not in ("", "0")
FEW_VARIANTS = (
    Variant("random", seed=1),
    Variant("queue", slice=50),
    *((Variant("random", seed=2),) if sys.version_info[:2] == DEFAULT else ()),
)
VARIANTS = FULL_VARIANTS if IS_FULL else FEW_VARIANTS
REPLAYS = FULL_REPLAYS if IS_FULL else 1
CASES = {program.name: program for program in (*programs(), *(BIG if IS_FULL else ()))}


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.shutdown(cancel_futures=True)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", CASES)
def test_replays_exactly(name: str, pool: Pool) -> None:
    cycles = [pool.submit(cycle, CASES[name], variant, REPLAYS) for variant in VARIANTS]
    complaints = [line for each in cycles for line in each.result().complaints]
    assert not complaints, "\n".join(complaints)
