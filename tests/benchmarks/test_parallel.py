"""The command that compares recorders: that it runs, tells what is wrong, and adds up."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import parallel_report as report
from measure import Times
from parallel_cases import HERE, Case, Target
from parallel_measure import Row, Seen, Sizes


def times(seconds: float) -> Times:
    return Times([seconds + 1.0], [seconds])


def row(one_s: float, two_s: float, name: str = "made_up") -> Row:
    """Stock takes two seconds, and one with two threads."""
    stock = Seen({1: times(2.0), 2: times(1.0)})
    sync = Seen({1: times(one_s), 2: times(two_s)}, times(5.0), Sizes(1000, 100))
    return Row(Case("compute", name), {"stock": stock, "sync": sync})


def test_ratios() -> None:
    made = row(2.2, 1.5)
    seen = made.seen["sync"]
    assert report.record_ratio(made, seen) == pytest.approx(1.5)
    assert report.speed_up_kept(made, seen) == pytest.approx(2.2 / 1.5 / 2.0)
    assert report.replay_ratio(made, seen) == pytest.approx(3.0)
    assert report.packed(made, seen) == 100


def test_costs_are_judged_by_mean_and_worst() -> None:
    target = Target("sync", "compute", 1.3, True)
    verdicts = list(report.judge_cost([row(2.0, 1.0), row(2.0, 1.44, "other")], target))
    assert [round(verdict.value, 6) for verdict in verdicts] == [1.2, 1.44]
    assert [verdict.is_met for verdict in verdicts] == [True, False]


def test_speed_up_is_judged_where_stock_has_one() -> None:
    flat = row(1.0, 1.0)
    flat.seen["stock"].times[1] = times(1.0)
    kept = list(report.judge_speed_up([row(2.4, 2.0, "other"), flat], "sync", True))
    assert [(round(verdict.value, 6), verdict.is_met) for verdict in kept] == [(0.6, False)]


def test_nothing_is_said_of_speed_up_on_a_busy_machine() -> None:
    verdicts = [str(verdict) for verdict in report.judge([row(2.0, 1.0)], 1.2)]
    assert verdicts[-1].endswith("UNSURE") and verdicts[0].endswith("ok")
    assert "BUSY" in report.about_control([1.9, 1.2])
    assert "BUSY" not in report.about_control([1.9, 1.8])


def test_wrong_results_are_told() -> None:
    made = row(2.0, 1.0)
    made.seen["sync"].differs = 3
    made.seen["stock"].trouble = "the command\nwhy"
    assert report.wrong([made]) == [
        "made_up, stock: FAILED: why",
        "made_up, sync: 3 results DIFFER",
    ]


def compare(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "parallel.py"), "--rounds", "1", "--scale", "0.01"]
    return subprocess.run([*command, *words], capture_output=True, text=True, timeout=240)


def test_stock_against_stock_and_the_serial_engine(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    done = compare(
        *("--only", "bank_unlocked", "processors 2", "--json", str(path)),
        *("--recorders", "again", "serial"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(after Light's figures 4 (time) and 5 (space))" in done.stdout
    told = json.loads(path.read_text())
    assert [one["group"] for one in told["rows"]] == ["shared", "processors"]
    for one in told["rows"]:
        assert one["recorders"]["serial"]["unpacked"] > 0
        assert one["recorders"]["again"]["record_ratio"] > 0


def test_a_recorder_that_does_not_work_is_left_out() -> None:
    done = compare("--only", "tour", "--recorders", "--recorder", "broken=--no-such-option")
    assert done.returncode == 0, done.stderr
    assert "broken is LEFT OUT" in done.stdout


def test_unknown_names_are_refused() -> None:
    assert "there are" in compare("--only", "nothing").stderr
    assert "there are" in compare("--recorders", "nobody").stderr
