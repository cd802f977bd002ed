"""Finds reenact where it is, installed or in this tree, for tests and the processes they start."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests import free_threaded

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


# What takes minutes and hardly depends on the version is run on the default one alone; what takes
# longest, and what needs packages from the network, only if asked for. Searches themselves, and all
# of recording and replaying, are tested on every version.
DEFAULT = (3, 11)
ONCE = (
    "tests/debug/",
    "tests/plugin/",
    "tests/traps/",
    "tests/docs/",
    "tests/races/test_later",
    # the tracer that it is compared with is not told of what a module's body writes, from 3.12 on
    "tests/checkpoints/test_moves.py::test_the_last_write_is_the_one_that_a_trace_of_all_writes_has",
    # words, files and options around a search; the searches are also in unit/explore
    "tests/unit/cli/test_explore",
    "tests/unit/explore/test_regression",
    "tests/unit/explore/test_looking",
    "tests/unit/explore/test_schedule",
    # that nothing is found where nothing is: the bugs themselves are found on every version
    "tests/unit/explore/test_loops.py::test_the_twin_without_the_bug_passes",
    "tests/detection/test_search.py::test_no_twin_is_reported",
    "tests/detection/test_search.py::test_reduction_counts_the_classes_that_brute_force_counts",
    # what the readers make of bad files, which knows nothing of the interpreter
    "tests/unit/recordings/test_fuzz",
    "tests/crash/test_mutated",
    # who is interrupted, launcher or program; that the program alone is, is tested everywhere
    "tests/crash/test_interrupted.py::test_launcher_alone",
    "tests/crash/test_interrupted.py::test_terminal",
)
IF_ASKED = (
    "tests/detection/test_real.py",
    "tests/races/test_real.py",
    "tests/plugin/test_truth.py::test_a_livelock",
    "tests/plugin/test_truth.py::test_a_failure_weighs_more_than_an_inconclusive_test",
    "tests/plugin/test_truth.py::test_a_daemon_thread_that_runs_on",
    "tests/plugin/test_beside.py::test_xdist",
    "tests/traps/test_traps.py::test_a_bug_is_found[socket_for_ever]",
)


def left_out() -> tuple[str, ...]:
    if os.environ.get("REENACT_ALL_TESTS"):
        return ()
    return IF_ASKED if sys.version_info[:2] == DEFAULT else (*ONCE, *IF_ASKED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    without = left_out()
    gone = [item for item in items if without and item.nodeid.startswith(without)]
    if gone:
        config.hook.pytest_deselected(items=gone)
        items[:] = [item for item in items if not item.nodeid.startswith(without)]
    free_threaded.leave_out(items)


def pytest_report_header() -> list[str]:
    without = ", ".join(left_out())
    ours = f"NOT RUN here (REENACT_ALL_TESTS=1 runs all): {without}" if without else "all tests"
    return [ours, *free_threaded.header()]
