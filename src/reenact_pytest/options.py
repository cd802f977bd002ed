"""How one test is explored: the command line's word, and the marker's where there is one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from reenact.errors import UsageError
from reenact.explore.runs import Points, Settings


@dataclass(frozen=True, slots=True)
class Options:
    runs: int
    seconds: float | None
    strategy: str
    seed: int
    patience: float
    races: bool = False
    skip: bool = False


def of_session(given: Any) -> Options:
    return Options(
        given.reenact_runs,
        given.reenact_seconds or None,
        given.reenact_strategy,
        given.reenact_seed,
        given.reenact_patience,
        given.reenact_races,
    )


def of_item(item: pytest.Item, options: Options) -> Options:
    """Raises `pytest.UsageError` for a marker that says what we do not understand."""
    known = {field.name for field in fields(Options)}
    for marker in reversed(list(item.iter_markers("reenact"))):  # the nearest comes last
        if marker.args or not known.issuperset(marker.kwargs):
            raise pytest.UsageError(
                f"{item.nodeid}: the marker reenact takes {', '.join(sorted(known))} by name"
            )
        options = replace(options, **marker.kwargs)
    return options


def settings(given: Any) -> Settings:
    points: Points = given.reenact_points
    return Settings(points=points, instrument=tuple(given.reenact_instrument))


def with_races(settings: Settings, root: Path, who: str) -> Settings:
    """Settings of a test, named for the sake of errors, that is to have no races."""
    from reenact.explore.raced import judge_of

    try:
        return replace(settings, races=judge_of(("races",), settings.points, None, root))
    except UsageError as error:
        raise pytest.UsageError(f"{who}: {error}") from None
