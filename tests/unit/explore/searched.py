"""Searches a program in a process of its own: `python -m tests.unit.explore.searched WHAT ...`.

A search patches the interpreter for good, so that tests start this as a child. What came of it is
printed as JSON; anything on standard error is noise that a run has left.
"""

from __future__ import annotations

import gc
import importlib
import inspect
import json
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

from reenact.explore.function import Function
from reenact.explore.runs import Settings
from reenact.explore.search import Found, Limits, Search


def searched(module: str, name: str, strategy: str, runs: int, **settings: Any) -> dict[str, Any]:
    function = getattr(importlib.import_module(module), name)
    seen: set[str] = set()
    address = settings.pop("address", None)
    wanted = inspect.signature(function).parameters
    arguments = {"seen": seen, "address": tuple(address or ())}
    call: Callable[[], object] = lambda: function(  # noqa: E731
        **{name: value for name, value in arguments.items() if name in wanted}
    )
    with Function(call, Settings(**settings)) as runner:
        found = Search(runner, strategy, 0, Limits(runs)).go()
    gc.collect()
    return as_json(found, seen)


def as_json(found: Found, seen: set[str]) -> dict[str, Any]:
    failure = found.failure
    return {
        "verdict": found.verdict,
        "reasons": found.reasons,
        "runs": found.coverage.runs,
        "exhausted": found.coverage.exhausted,
        "seen": sorted(seen),
        "kind": failure.kind if failure is not None else "",
        "summary": failure.summary if failure is not None else "",
        "waiting": {
            each.thread: [line.function for line in each.stack]
            for each in (failure.waiting if failure is not None else ())
        },
        "threads": threading.active_count(),
    }


if __name__ == "__main__":
    warnings.simplefilter("always")
    print(json.dumps(searched(**json.loads(sys.argv[1]))))
