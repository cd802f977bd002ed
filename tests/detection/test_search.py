"""The searches against the suite: bugs are found, and twins are never reported.

Owns the promises: `auto` finds every bug within 2,000 schedules; `pct` and `pos` find at least 95 %
of them; no strategy reports a twin; reduction exhausts every small twin, and counts the classes
that brute force counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reenact import strategies
from tests.detection.table import PROGRAMS

ROOT = Path(__file__).parents[2]
GROUPS = sorted({program.group for program in PROGRAMS})
NAMES = [program.name for program in PROGRAMS]
SMALL = [program.name for program in PROGRAMS if program.is_small]
TIMED = ("ibm_shop", "py_timeout_and_result")  # reduction leaves the order of time-outs aside


def searched(names: list[str], *options: str) -> list[dict[str, Any]]:
    """Whether reenact is installed or in the source tree, the child finds the same one."""
    import reenact

    source = str(Path(reenact.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "tests.detection.search", *options, *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert {row["name"] for row in rows} == set(names)
    return rows


@pytest.mark.parametrize("group", GROUPS)
def test_auto_finds_every_bug(group: str) -> None:
    programs = {program.name: program for program in PROGRAMS if program.group == group}
    for row in searched(list(programs), "--strategy", "auto", "--twin", "buggy"):
        assert row["verdict"] == "failed", row
        assert row["runs"] <= 2000
        is_deadlock = programs[row["name"]].kind == "deadlock"
        assert (row["kind"] == "deadlock") == is_deadlock, row
        assert not row["reasons"], row


@pytest.mark.parametrize("strategy", ["pct", "pos"])
def test_sampling_finds_nearly_every_bug(strategy: str) -> None:
    rows = searched(NAMES, "--strategy", strategy, "--twin", "buggy")
    found = [row for row in rows if row["verdict"] == "failed"]
    missed = [row["name"] for row in rows if row["verdict"] != "failed"]
    assert len(found) >= 0.95 * len(rows), missed


@pytest.mark.parametrize("strategy", strategies.SEARCHERS)
def test_no_twin_is_reported(strategy: str) -> None:
    rows = searched(NAMES, "--strategy", strategy, "--twin", "safe", "--runs", "100")
    assert [row for row in rows if row["verdict"] != "passed"] == []


def test_reduction_exhausts_small_twins() -> None:
    rows = searched(SMALL, "--strategy", "dpor", "--twin", "safe")
    assert [row["name"] for row in rows if not row["exhausted"]] == []


def test_reduction_counts_the_classes_that_brute_force_counts() -> None:
    names = [name for name in SMALL if name not in TIMED]
    rows = searched(
        names, "--strategy", "dpor", "--strategy", "dfs", "--twin", "safe", "--runs", "6000"
    )
    reduced = {row["name"]: row for row in rows if row["strategy"] == "dpor"}
    brute = {row["name"]: row for row in rows if row["strategy"] == "dfs" and row["exhausted"]}
    assert len(brute) >= 5, "too few programs are small enough for brute force"
    for name, row in brute.items():
        assert row["classes"] == reduced[name]["classes"], (row, reduced[name])
