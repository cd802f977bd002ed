"""What does not pass yet on free-threaded CPython, and why: the one place that says so.

Tests are named by how their ids begin. They are not run there, and the header of every test run
there lists them. On builds with the GIL nothing of this counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

HAS_GIL = "t" not in sys.abiflags
# What the interpreter writes to standard error when a module cannot do without the GIL.
GIL_IS_BACK = b"The global interpreter lock (GIL) has been enabled"
NOT_YET = {
    "tests/canaries/": "the collector goes through the blocks of the allocator, canaries included,"
    " so reenact run --tools is refused there",
    "tests/guard/test_run.py::test_a_re_execution_leaves_the_same_objects_at_the_same_addresses": (
        "what is compared are the pools of an allocator that is not used there"
    ),
}


def reason_for(test: str) -> str | None:
    """Why a test is not run on this interpreter; None if it is."""
    if HAS_GIL:
        return None
    return next((why for name, why in NOT_YET.items() if test.startswith(name)), None)


def leave_out(items: list[pytest.Item]) -> None:
    for item in items:
        reason = reason_for(item.nodeid)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=f"NOT YET without the GIL: {reason}"))


def check() -> None:
    """The GIL comes back with a module that says nothing of being able to do without."""
    assert HAS_GIL or not sys._is_gil_enabled(), "the GIL is on"


def header() -> Iterator[str]:
    if HAS_GIL:
        return
    state = "ON, which this run should not have" if sys._is_gil_enabled() else "off"
    yield f"free-threaded CPython, with the GIL {state}"
    for name, why in NOT_YET.items():
        yield f"NOT YET without the GIL: {name}: {why}"
