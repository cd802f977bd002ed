"""Recordings of the programs here, made once, and adapters on them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .client import Adapter, Client

PROGRAMS = Path(__file__).parent / "programs"

Recorded = Callable[[str], Path]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The recording of a program, which lies beside it."""
    directory = tmp_path_factory.mktemp("recorded")

    def record(name: str) -> Path:
        recording = directory / f"{name}.reenact"
        if not recording.exists():
            shutil.copy(PROGRAMS / f"{name}.py", directory)
            words = ["record", "-o", recording.name, f"{name}.py"]
            command = [sys.executable, "-m", "reenact", *words]
            subprocess.run(command, cwd=directory, capture_output=True, check=False)
            assert recording.exists()
        return recording

    return record


@pytest.fixture
def adapter(recorded: Recorded) -> Iterator[Callable[[str], Adapter]]:
    """An adapter on the recording of a program."""
    with ExitStack() as exits:
        yield lambda name: exits.enter_context(Adapter(recorded(name)))


@pytest.fixture
def turns(adapter: Callable[[str], Adapter]) -> Client:
    return adapter("turns").client


def line_of(program: str, text: str) -> int:
    """The number of the one line that has this text."""
    lines = (PROGRAMS / f"{program}.py").read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number
