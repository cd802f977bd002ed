"""Runs generated programs under the gate with the race detector, and tells all that was seen.

Starts one process for many programs, the way `reenact races` does. What runs there is `taped.py`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reenact import strategies
from reenact.engine import races
from reenact.engine.launch import Choices, Program
from tests.races.generated import Sight
from tests.races.oracle import Access, Acquire, Event, Join, Mode, Release, Start

SCRIPT = Path(__file__).with_name("taped.py")


@dataclass(frozen=True)
class Execution:
    events: list[Event]
    racy: list[tuple[Sight, Sight]]  # as the detector says


def executed(
    sources: Sequence[str], strategy: str = "random", seed: int = 0, slice: int = 3
) -> list[Execution]:
    """One after another in one process, which other threads take over every few ticks."""
    with tempfile.TemporaryDirectory() as name:
        given, left = Path(name, "given"), Path(name, "left")
        given.write_text(json.dumps(list(sources)))
        kind = strategies.describe(strategy).kind
        program = Program("script", str(SCRIPT), (str(given), str(left)), ())
        ended = races.live(program, Choices(strategy, kind, seed, slice)).ended
        if ended.exit_code != 0 or ended.signal is not None:
            raise AssertionError(f"the process of the programs ended badly: {ended}")
        return [
            Execution([event_of(*entry) for entry in tape], [sights_of(each) for each in racy])
            for tape, racy in json.loads(left.read_text())
        ]


def sights_of(race: dict[str, Any]) -> tuple[Sight, Sight]:
    first, second = ((race[name]["line"], Mode(race[name]["mode"])) for name in ("first", "second"))
    return first, second


def event_of(kind: str, thread: int, object: int, what: int, line: int) -> Event:
    match kind:
        case "begin":
            return Start(object, thread)
        case "join":
            return Join(thread, object)
        case "acquire":
            return Acquire(thread, ("lock", object))
        case "release":
            return Release(thread, ("lock", object))
    return Access(thread, ("object", object), what or None, Mode(kind), line)
