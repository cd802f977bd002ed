"""Every strategy through the same suite: programs end as they should, runs replay, and the same
seed makes the same choices."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reenact.recordings.reader import Recording
from reenact.strategies import BUILTIN

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
STRATEGIES = [*BUILTIN, "tests.conformance.newest_first:NewestFirst"]
SAMPLE = ["race_counter", "queue_fifo", "barrier", "condition_notify_all", "pool_map", "timer"]


def reenact(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reenact", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
    )


def record(path: Path, strategy: str, program: str, seed: int = 3) -> str:
    done = reenact(
        "record",
        "-o",
        str(path),
        "--strategy",
        strategy,
        "--seed",
        str(seed),
        str(PROGRAMS / f"{program}.py"),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def choices(path: Path) -> list[tuple[int, str, int]]:
    return [(each.step, each.kind, each.argument) for each in Recording.open(path).schedule()]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("program", SAMPLE)
def test_what_a_strategy_chose_replays(tmp_path: Path, strategy: str, program: str) -> None:
    path = tmp_path / "run.reenact"
    printed = record(path, strategy, program)
    replayed = reenact("replay", str(path))
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.stdout == printed


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_makes_the_same_choices(tmp_path: Path, strategy: str) -> None:
    record(tmp_path / "one.reenact", strategy, "race_counter")
    record(tmp_path / "two.reenact", strategy, "race_counter")
    assert choices(tmp_path / "one.reenact") == choices(tmp_path / "two.reenact")


def test_another_seed_makes_other_choices(tmp_path: Path) -> None:
    record(tmp_path / "one.reenact", "random", "race_counter", seed=1)
    record(tmp_path / "two.reenact", "random", "race_counter", seed=2)
    assert choices(tmp_path / "one.reenact") != choices(tmp_path / "two.reenact")


def test_a_strategy_of_ones_own_is_obeyed(tmp_path: Path) -> None:
    """The newest thread always runs, so that each ends before an older one goes on."""
    path = tmp_path / "run.reenact"
    record(path, "tests.conformance.newest_first:NewestFirst", "race_counter")
    ends = [event.thread for event in Recording.open(path).events() if event.operation == "end"]
    assert ends == ["0.1", "0.2", "0.3", "0.4"]


def test_a_broken_strategy_is_reported_and_the_program_goes_on(tmp_path: Path) -> None:
    done = reenact(
        "record",
        "-o",
        str(tmp_path / "run.reenact"),
        "--strategy",
        "tests.conformance.newest_first:Broken",
        str(PROGRAMS / "race_counter.py"),
    )
    assert done.returncode == 0
    assert "strategy chose" in done.stderr


@pytest.mark.parametrize(
    "name", ["nonsense", "tests.conformance.newest_first:Missing", "no.such:X"]
)
def test_an_unknown_strategy_is_a_usage_error(tmp_path: Path, name: str) -> None:
    done = reenact("record", "--strategy", name, str(PROGRAMS / "race_counter.py"))
    assert done.returncode == 2
    assert name.split(":")[0] in done.stderr
