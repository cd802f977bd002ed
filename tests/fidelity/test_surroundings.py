"""Where a program's objects lie is its own affair: what is around it may change before a replay."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ..crash.running import reenact
from .harness import PROGRAMS

NAMES = ("id_order", "id_set", "id_reuse", "import_lazy")


@pytest.mark.parametrize("name", NAMES)
def test_files_beside_the_program(tmp_path: Path, name: str) -> None:
    """Recordings among them: each is left beside the program if nothing else is said."""
    shutil.copytree(PROGRAMS / "pkg", tmp_path / "pkg")
    shutil.copy(PROGRAMS / f"{name}.py", tmp_path)
    words = ("--strategy", "random", "--seed", 4, "-o")
    recorded = reenact("record", *words, "one.reenact", f"{name}.py", cwd=tmp_path)
    assert recorded.code == 0, recorded.stderr
    for number in range(40):
        (tmp_path / ("some_other_file" * (number % 5) + f"{number}.txt")).touch()
    reenact("record", *words, "two.reenact", f"{name}.py", cwd=tmp_path)
    replayed = reenact("replay", "one.reenact", cwd=tmp_path)
    assert replayed.code == 0, replayed.stderr
    assert replayed.stdout == recorded.stdout
    assert "exactly as recorded" in replayed.stderr
    assert "other addresses" not in replayed.stderr


def test_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay gives the program the environment of the recording, whatever there is now."""
    path = tmp_path / "run.reenact"
    program = PROGRAMS / "id_set.py"
    monkeypatch.setenv("SOME_TOKEN", "a secret")
    recorded = reenact("record", "--strategy", "random", "--seed", 4, "-o", path, program)
    monkeypatch.delenv("SOME_TOKEN")
    for number in range(100):
        monkeypatch.setenv(f"VARIABLE_{number}", "x" * number)
    replayed = reenact("replay", path)
    assert replayed.stdout == recorded.stdout
    assert "exactly as recorded" in replayed.stderr
    assert "other addresses" not in replayed.stderr
