"""Finds reenact where it is, installed or in this tree, for tests and the processes they start."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

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
