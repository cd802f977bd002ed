"""What is around a program may change before a replay, or be gone: nothing of it is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..crash.running import reenact
from .harness import PROGRAMS, read_program

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


INPUTS = sorted(path.stem for path in PROGRAMS.glob("input_*.py"))
ALONE = ("unshare", "--map-root-user", "--net", "--ipc", "--uts")
CAN_BE_ALONE = subprocess.run([*ALONE, "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not CAN_BE_ALONE, reason="this machine has no unprivileged namespaces")
@pytest.mark.parametrize("name", INPUTS)
def test_without_the_outside(tmp_path: Path, name: str) -> None:
    """No network, another user, nothing at standard input, other environment, no files left."""
    path, outside = tmp_path / "run.reenact", tmp_path / "outside"
    outside.mkdir()
    program = read_program(PROGRAMS / f"{name}.py")
    command = [sys.executable, "-m", "reenact"]
    recorded = subprocess.run(
        [*command, "record", "-o", path, program.path, *program.args],
        input=program.stdin,
        env={**os.environ, "TMPDIR": str(outside)},
        capture_output=True,
        timeout=60,
    )
    assert recorded.returncode == program.exit_code, recorded.stderr
    shutil.rmtree(outside)
    replayed = subprocess.run(
        [*ALONE, *command, "replay", path],
        stdin=subprocess.DEVNULL,
        cwd="/",
        capture_output=True,
        timeout=60,
    )
    assert b"exactly as recorded" in replayed.stderr, replayed.stderr
    assert replayed.stdout == recorded.stdout
