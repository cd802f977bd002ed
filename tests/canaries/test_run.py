"""`reenact run --tools`: the line that damages memory, found by running the epoch again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from .finding import PROGRAM, in_epochs, wrong
from .test_canaries import NAMES, extension, scenarios

__all__ = ["extension", "scenarios"]
FEW = ("by_one", "before_it", "gone_with_it", "bytes_of", "instance_of", "freed", "freed_twice")
CHOSEN = NAMES if os.environ.get("REENACT_FULL") else FEW


@pytest.mark.parametrize("name", CHOSEN)
def test_the_line_is_told(
    name: str, extension: Path, tmp_path: Path, scenarios: dict[str, Any]
) -> None:
    """A hundred times: `python -m tests.canaries.finding`."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    assert wrong(in_epochs(extension, program, name), *scenarios[name]) == ""


def test_nothing_is_told_of_a_correct_program(extension: Path, tmp_path: Path) -> None:
    path = tmp_path / "correct.py"
    path.write_text("import json\nprint(json.dumps([{'a': 1}] * 3))\n", "utf-8")
    done = in_epochs(extension, path)
    assert (done.returncode, done.stdout) == (0, '[{"a": 1}, {"a": 1}, {"a": 1}]\n')


def test_tools_that_there_are_not_are_refused(extension: Path) -> None:
    done = in_epochs(extension, Path("x.py"), tools="leaks")
    assert done.returncode == 2
    assert "there are overflow and use-after-free" in done.stderr
