"""What happened around a place, and what races there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .sessions import ROOT, Typed, record

Open = Callable[..., Typed]


def test_events(opened: Open) -> None:
    typed = opened("lost")
    typed("last-write shelf.loaves")
    told = typed("events 6")
    (here,) = [number for number, each in enumerate(told) if each.startswith("=>")]
    step = typed.traveller.stop.place.step
    assert told[here].split() == ["=>", str(step), "you", "are", "here"]
    steps = [int(each.split()[0]) for each in told if not each.startswith("=>")]
    assert steps == sorted(steps)
    assert set(steps) <= set(range(step - 6, step + 7))
    assert any("-> thread " in each for each in told)
    assert any("lock" in each and "threading.py:" in each for each in told)


def test_events_at_the_end_and_at_the_beginning(opened: Open) -> None:
    typed = opened("calls")
    last = typed.traveller.stop.place.step
    assert f"=> {last:>8}  you are here" in typed("events")
    typed("goto beginning")
    assert typed("events 2")[0].split()[:2] == ["=>", "0"]


def test_races_of_this_line_or_file(opened: Open, tmp_path: Path) -> None:
    source = (ROOT / "examples/bank.py").read_text("utf-8")
    typed = opened(record(tmp_path, "bank", source))
    assert "1 race" in typed("races")
    typed("b 18")
    typed("rc")
    told = typed("races")
    assert told[0] == "about bank.py:18:"
    assert told[1].startswith("error: race on Account.balance")
    report = typed.session.report
    typed("restart")
    assert typed("races")[0] == "about bank.py:"
    assert typed.session.report is report  # looked for once


def test_no_races(opened: Open) -> None:
    typed = opened("calls")
    typed("restart")
    told = typed("races")
    assert told == ["nothing was found that is about calls.py:1, or its file"]
    assert typed("races all") == ["no races, no cycles of locks"]
