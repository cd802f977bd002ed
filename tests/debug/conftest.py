"""Each program is recorded once; each test has a session of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .sessions import CALLS, LOST, UPDATE, Typed, record


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("recorded")
    sources = {"calls": CALLS, "lost": LOST, "update": UPDATE}
    return {name: record(place, name, source) for name, source in sources.items()}


@pytest.fixture
def opened(recordings: dict[str, Path]) -> Iterator[Callable[..., Typed]]:
    """Opens a recording, by its name or its path; a replay changes the directory."""
    before = os.getcwd()
    sessions: list[Typed] = []

    def open_one(what: str | Path) -> Typed:
        path = recordings[what] if isinstance(what, str) else what
        sessions.append(Typed(path))
        return sessions[-1]

    yield open_one
    for each in sessions:
        each.traveller.close()
    os.chdir(before)
