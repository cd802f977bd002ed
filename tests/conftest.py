"""Finds reenact where it is, installed or in this tree, for tests and the processes they start."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests import free_threaded
from tests.versions import left_out

if TYPE_CHECKING:
    import pytest

pytest_plugins = "pytester"  # for tests/plugin; no conftest further down may name plugins
SOURCES = str(Path(__file__).resolve().parent.parent / "src")


def find_reenact() -> None:
    """Absolute paths, since programs are run in directories of their own."""
    paths = [os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(":") if path]
    if importlib.util.find_spec("reenact") is None:
        sys.path.insert(0, SOURCES)
        paths.insert(0, SOURCES)
    if paths:
        os.environ["PYTHONPATH"] = ":".join(paths)


find_reenact()


def pytest_configure(config: pytest.Config) -> None:
    """Where pytest-timeout is not installed, its mark should not be reported as unknown."""
    config.addinivalue_line("markers", "timeout(seconds): a limit of its own; 0 is none")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    without = left_out()
    gone = [item for item in items if without and item.nodeid.startswith(without)]
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if not item.nodeid.startswith(without)]
    free_threaded.leave_out(items)


def pytest_runtest_teardown() -> None:
    free_threaded.check()


def pytest_report_header() -> list[str]:
    without = ", ".join(left_out())
    ours = f"NOT RUN here (REENACT_ALL_TESTS=1 runs all): {without}" if without else "all tests"
    return [ours, *free_threaded.header()]
