"""The table of the detection suite against the files, and each program in plain runs.

Owns what holds without a search: the list is complete, twins pass, nothing is left behind.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from types import ModuleType

import pytest

from tests.detection.real.table import DIRECTORY as REAL_DIRECTORY
from tests.detection.real.table import REAL_BUGS
from tests.detection.table import DIRECTORY, PROGRAMS, Program


def load(program: Program) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"detection_{program.name}", program.path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_is_in_the_table_once() -> None:
    files = sorted(path.stem for path in DIRECTORY.glob("*.py"))
    assert sorted(program.name for program in PROGRAMS) == files


def test_every_script_of_a_real_bug_is_in_its_table_once() -> None:
    files = sorted(path.stem for path in REAL_DIRECTORY.glob("*.py"))
    assert sorted([bug.name for bug in REAL_BUGS] + ["__init__", "table"]) == files


def test_the_groups_are_as_large_as_promised() -> None:
    groups = [program.group for program in PROGRAMS]
    assert groups.count("ibm") == 15
    assert groups.count("litmus") == 7
    assert groups.count("sct") >= 15
    assert groups.count("async") >= 8
    assert groups.count("py") >= 12
    assert len(set(groups)) == 5


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_twin_passes_and_leaves_no_thread(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: failures.append(repr(args)))
    safe = load(program).safe
    before = threading.active_count()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(5):
            safe()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    assert threading.active_count() == before
