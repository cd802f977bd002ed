"""How many schedules each strategy needs to find each bug of the detection suite.

    python benchmarks/detection.py [--seeds 3] [--runs 2000] [--json FILE] [NAME...]

For every program and strategy the median over the seeds; "-" if a search found nothing within
the limit. A table, with the share of bugs found below.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.detection.table import PROGRAMS  # noqa: E402

STRATEGIES = ("auto", "random", "pct", "pos", "delay", "dfs", "dpor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("names", nargs="*", default=[program.name for program in PROGRAMS])
    args = parser.parse_args()
    rows = [row for seed in range(args.seeds) for row in searched(args.names, args.runs, seed)]
    print(table(args.names, rows))
    if args.json is not None:
        Path(args.json).write_text(json.dumps(rows, indent=2) + "\n", "utf-8")


def searched(names: list[str], runs: int, seed: int) -> list[dict[str, Any]]:
    options = [option for strategy in STRATEGIES for option in ("--strategy", strategy)]
    command = [sys.executable, "-m", "tests.detection.search", *options, "--twin", "buggy"]
    done = subprocess.run(
        [*command, "--runs", str(runs), "--seed", str(seed), *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def table(names: list[str], rows: list[dict[str, Any]]) -> str:
    needed: dict[tuple[str, str], list[int | None]] = {}
    for row in rows:
        found = row["runs"] if row["verdict"] == "failed" else None
        needed.setdefault((row["name"], row["strategy"]), []).append(found)
    head = f"{'schedules to the first failure':34}" + "".join(f"{each:>8}" for each in STRATEGIES)
    lines = [head]
    for name in names:
        cells = [median(needed[name, strategy]) for strategy in STRATEGIES]
        lines.append(f"{name:34}" + "".join(f"{cell:>8}" for cell in cells))
    shares = [share(strategy, needed) for strategy in STRATEGIES]
    lines.append(f"{'found':34}" + "".join(f"{each:>7.0%} " for each in shares))
    return "\n".join(lines)


def median(found: list[int | None]) -> str:
    numbers = [each for each in found if each is not None]
    return "-" if len(numbers) < len(found) else f"{statistics.median(numbers):.0f}"


def share(strategy: str, needed: dict[tuple[str, str], list[int | None]]) -> float:
    all_found = [each for (_, name), found in needed.items() if name == strategy for each in found]
    return sum(each is not None for each in all_found) / len(all_found)


if __name__ == "__main__":
    main()
