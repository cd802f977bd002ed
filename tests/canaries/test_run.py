"""`reenact run --tools`: the line that damages memory, found by running the epoch again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from .test_canaries import NAMES, Run, extension, marked, run, scenarios

__all__ = ["extension", "run", "scenarios"]
HERE = Path(__file__).parent
FEW = ("by_one", "before_it", "gone_with_it", "bytes_of", "instance_of", "freed", "freed_twice")
# Lists come from a list of free ones, which looking changes: the line is not always known.
CHOSEN = [each for each in NAMES if each != "list_of"] if os.environ.get("REENACT_FULL") else FEW
PROGRAM = """\
import sys
import threading

import scenarios

thread = threading.Thread(target=scenarios.SCENARIOS[sys.argv[1]][0])
thread.start()
thread.join()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, "utf-8")
    return path


def in_epochs(run: Run, program: Path, *words: object, tools: str) -> list[str]:
    options = ("--on-failure", "continue", "--tools", tools)
    done = run("-m", "reenact", "run", *options, program, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", CHOSEN)
def test_the_line_is_told(
    name: str, run: Run, program: Path, scenarios: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{os.environ.get('PYTHONPATH', '')}:{HERE}")
    function, expected = scenarios[name]
    told = in_epochs(run, program, name, tools="overflow,use-after-free")
    assert told[0].startswith(f"FAILED: memory was damaged: {expected.kind}, byte ")
    wrote = next(i for i, line in enumerate(told) if ", written by thread 1" in line)
    assert told[wrote].endswith(f" in {expected.callee}" if expected.callee else "thread 1")
    line = f"scenarios.py:{marked(function, 'write')} in {function.__qualname__}"
    assert line in told[wrote + 1]
    allocated = told.index("  allocated here")
    line = f"scenarios.py:{marked(function, 'allocation')} in {function.__qualname__}"
    assert line in told[allocated + 1]


def test_nothing_is_told_of_a_correct_program(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "correct.py"
    path.write_text("import json\nprint(json.dumps([{'a': 1}] * 3))\n", "utf-8")
    told = in_epochs(run, path, tools="overflow,use-after-free")
    assert told == ['[{"a": 1}, {"a": 1}, {"a": 1}]']


def test_tools_that_there_are_not_are_refused(run: Run, tmp_path: Path) -> None:
    done = run("-m", "reenact", "run", "--tools", "leaks", "x.py")
    assert done.returncode == 2
    assert "there are overflow and use-after-free" in done.stderr
