"""Searches programs of the detection suite, in a process of its own, and prints what came of it.

    python -m tests.detection.search --strategy pct --runs 2000 --twin buggy sct_account ibm_shop

One JSON object a line: name, twin, strategy, verdict, runs, kind of failure, reasons, exhausted,
classes. Used by the tests and by `benchmarks/detection.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import Any

from reenact import strategies
from reenact.explore.function import Function
from reenact.explore.runs import Settings
from reenact.explore.search import Limits, Search


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategy", action="append", required=True, choices=strategies.SEARCHERS)
    parser.add_argument("--twin", action="append", required=True, choices=("buggy", "safe"))
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="+")
    args = parser.parse_args()
    for name in args.names:
        for twin in args.twin:
            for strategy in args.strategy:
                print(json.dumps(search(name, twin, strategy, args.runs, args.seed)), flush=True)


def search(name: str, twin: str, strategy: str, runs: int, seed: int) -> dict[str, Any]:
    module = import_module(f"tests.detection.programs.{name}")
    with Function(getattr(module, twin), Settings()) as runner:
        hunt = Search(runner, strategy, seed, Limits(runs))
        found = hunt.go()
    return {
        "name": name,
        "twin": twin,
        "strategy": strategy,
        "verdict": found.verdict,
        "runs": found.coverage.runs,
        "kind": None if found.failure is None else found.failure.kind,
        "summary": None if found.failure is None else found.failure.summary,
        "reasons": found.reasons,
        "exhausted": found.coverage.exhausted,
        "behaviours": found.coverage.behaviours,
        "classes": getattr(hunt.searcher, "classes", None),
    }


if __name__ == "__main__":
    sys.exit(main())
