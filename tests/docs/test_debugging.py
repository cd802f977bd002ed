"""The session of the debugging tutorial is the real one; the reference has every command."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.debug.terminal import loop  # it knows all commands
from reenact.debug.terminal.words import COMMANDS
from tests.docs.transcripts import difference, shown

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs/debugging.md"
PROMPT = re.compile(r"\(reenact .*? thread \d+\) (.*)")


def reenact(place: Path, *words: str, typed: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "reenact", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        cwd=place,
        input=typed,
    )
    return done.stdout


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where the recording is, and what was printed when it was made."""
    place = tmp_path_factory.mktemp("shelf")
    shutil.copy(ROOT / "examples/shelf.py", place)
    return place, reenact(place, "explore", "-o", "shelf.reenact", "shelf.py")


def test_the_recording_of_the_tutorial(explored: tuple[Path, str]) -> None:
    (expected,) = shown(TUTORIAL, "reenact explore -o shelf.reenact shelf.py")
    assert difference(expected, explored[1]) == ""


def session() -> list[str]:
    """All blocks from the command on, as one."""
    blocks = re.findall(r"```console\n(.*?)```", TUTORIAL.read_text("utf-8"), re.DOTALL)
    (first,) = [at for at, block in enumerate(blocks) if block.startswith("$ reenact debug ")]
    return "".join(blocks[first:]).splitlines()[1:]


def test_the_session_of_the_tutorial(explored: tuple[Path, str]) -> None:
    expected = session()
    typed = [found[1] for found in map(PROMPT.fullmatch, expected) if found]
    assert len(typed) > 8 and typed[-1] == "quit"
    output = reenact(explored[0], "debug", "shelf.reenact", typed="\n".join(typed) + "\n")
    assert difference(expected, output) == ""


def test_the_readme_shows_what_is_printed(explored: tuple[Path, str]) -> None:
    (expected,) = shown(ROOT / "README.md", "reenact debug shelf.reenact -c why")
    output = reenact(explored[0], "debug", "shelf.reenact", "-c", "why")
    assert difference(expected, output) == ""


def test_every_command_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/debug.md").read_text("utf-8")
    assert loop.COMMANDS is COMMANDS
    for command in COMMANDS.values():
        for name in (command.name, *command.aliases):
            assert re.search(rf"`{re.escape(name)}[` ]", page), name
