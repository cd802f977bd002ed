"""Signals that a program has handlers for: heard in a replay where they were heard before."""

from __future__ import annotations

from pathlib import Path

import pytest

from .running import PROGRAMS, reenact

WAYS = ("alarm while computing", "alarm while joining", "kill while sleeping", "raise", "sigwait",
        "interrupt main")  # fmt: skip
STRATEGIES = (("--slice", "500"), ("--strategy", "random", "--seed", "2"))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("way", WAYS)
def test_heard_again(tmp_path: Path, way: str, strategy: tuple[str, ...]) -> None:
    path = tmp_path / "run.reenact"
    recorded = reenact("record", *strategy, "-o", path, PROGRAMS / "signals.py", way)
    assert recorded.code == 0, recorded.stderr
    replayed = reenact("replay", path)
    assert replayed.code == 0, replayed.stderr
    assert replayed.stdout == recorded.stdout
    assert "exactly as recorded" in replayed.stderr


def test_raised_signals_are_heard_at_once(tmp_path: Path) -> None:
    """As without us: the handler has run when the call returns."""
    path = tmp_path / "run.reenact"
    recorded = reenact("record", "-o", path, PROGRAMS / "signals.py", "raise")
    assert recorded.stdout == "raise [0, 4000, 8000] 12000\n"
