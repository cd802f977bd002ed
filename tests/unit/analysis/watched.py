"""Runs programs of `lock_programs.py` under the gate with their locks watched, and prints what was
found: one JSON object a line, with the name, the order of threads, and the raw findings.

    python -m tests.unit.analysis.watched --seeds 5

In a process of its own, since it patches the interpreter. "plain": first come, first served, in one
run; the others have threads chosen at random by a search.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from reenact import _core
from reenact.explore import runs
from reenact.explore.function import Function
from reenact.explore.runs import Settings
from reenact.strategies.searching import Plan
from tests.unit.analysis.lock_programs import PROGRAMS, Program

RANDOM = 1  # in `_core/core.h`: SEARCH_RANDOM


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=0)
    args = parser.parse_args()
    for program in PROGRAMS:
        say(program, "plain", plainly(program))
        for seed in range(args.seeds):
            say(program, f"random {seed}", at_random(program, seed))


def say(program: Program, order: str, raw: dict[str, Any]) -> None:
    line = {"name": program.__name__, "order": order, "raw": raw}
    print(json.dumps(line), flush=True)


def plainly(program: Program) -> dict[str, Any]:
    runs.take_over()
    _core.explore_open(SystemExit)
    _core.locks_watch(True)
    try:
        program()
        return _core.locks_found()
    finally:
        _core.locks_watch(False)
        _core.explore_close()


def at_random(program: Program, seed: int) -> dict[str, Any]:
    """A run that comes to a deadlock is given up, and what was found until then is told."""
    found: list[dict[str, Any]] = []

    def watched() -> None:
        _core.locks_watch(True)
        try:
            program()
        finally:
            found.append(_core.locks_found())

    with Function(watched, Settings(points="sync")) as runner:
        runner.run(Plan(kind=RANDOM, seed=seed))
    _core.locks_watch(False)
    return found[0]


if __name__ == "__main__":
    main()
