"""Tests that are written: they fail with the bug, pass without it, and never pass unseen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from reenact.errors import UsageError
from reenact.explore.regression import write_test
from reenact.explore.runs import Settings
from reenact.findings import Failure
from tests.unit.explore.programs import FIXED, LOST_UPDATE, run_pytest
from tests.unit.explore.test_schedule import WRITTEN

FAILURE = Failure("assertion", 'AssertionError: "quoted" \\ and more')
SCRIPT = LOST_UPDATE + "\n\nif __name__ == '__main__':\n    main()\n"
FIXED_SCRIPT = FIXED + "\n\nif __name__ == '__main__':\n    main()\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_test(tmp_path / "test_race.py", "prog:main", WRITTEN, FAILURE)
    return tmp_path


def test_it_is_a_small_file(directory: Path) -> None:
    text = (directory / "test_race.py").read_text()
    ast.parse(text)
    assert WRITTEN in text
    assert len(text.splitlines()) < 40


def test_it_fails_with_the_bug(directory: Path) -> None:
    (directory / "prog.py").write_text(LOST_UPDATE)
    text = run_pytest(directory)
    assert "1 failed" in text
    assert "account.balance == 130" in text


def test_it_passes_without_the_bug(directory: Path) -> None:
    (directory / "prog.py").write_text(FIXED)
    assert "1 passed" in run_pytest(directory)


def test_a_stale_schedule_is_no_pass(directory: Path) -> None:
    """The bug is still there, under another name."""
    (directory / "prog.py").write_text(LOST_UPDATE.replace("balance", "money"))
    text = run_pytest(directory)
    assert "1 failed" in text
    assert "Account.money from 100 to" in text


def test_without_a_schedule_none_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no test was written"):
        write_test(tmp_path / "test_race.py", "prog:main", "", FAILURE)
    assert not (tmp_path / "test_race.py").exists()


def test_settings_are_kept(tmp_path: Path) -> None:
    settings = Settings("sync", ("redis",), patience_s=2.0)
    write_test(tmp_path / "test_race.py", "prog:main", WRITTEN, FAILURE, settings)
    text = (tmp_path / "test_race.py").read_text()
    ast.parse(text)
    assert "reenact.follow(run, SCHEDULE, instrument=('redis',), patience=2.0)" in text
    assert "points='sync', instrument=('redis',), patience=2.0)" in text


@pytest.mark.parametrize("mode", [[], ["-m"]])
def test_the_command_writes_one_for_a_program(tmp_path: Path, mode: list[str]) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "prog.py").write_text(SCRIPT)
    (tmp_path / "conftest.py").write_text("import sys, os; sys.path.insert(0, os.getcwd())\n")
    written = tmp_path / "tests" / "test_race.py"
    target = [*mode, "prog"] if mode else ["prog.py"]
    done = subprocess.run(
        [sys.executable, "-m", "reenact", "explore", "--write-test", str(written), *target],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in run_pytest(tmp_path)
    (tmp_path / "prog.py").write_text(FIXED_SCRIPT)
    assert "1 passed" in run_pytest(tmp_path)
