"""Measure how many schedules per second reenact and its peers explore, side by side.

    python benchmarks/explore.py [--python PYTHON] [--rounds 3] [--seconds 3] [--json FILE]
    python benchmarks/explore.py --truth     # what each says of programs whose answer is known

The peers are installed by this script, each into an environment of its own below --cache. Every
round runs all ways of all tools one after the other, so that a slow phase of the machine meets
all; the best round counts, and of each tool its best way (for jobs=2 over jobs=1: the median of
the rounds). The exit code says only whether everything ran.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import replace
from pathlib import Path

import explore_report as report
from explore_report import Row, Said
from peers.tools import PEERS, REENACT, ROOT, Answer, Installed, ToolFailed, install
from peers.workloads import WORKLOADS

RATES = ("locked", "compute")
FIRST_FAILURE = "bare"
SCALING = "locked"
SCALING_ROUNDS = 5
TRUTHS = ("check_then_act", "inner_threads", "pool", "two_pools")


def main() -> int:
    """Measure, or ask for the truth, and print."""
    options = parse()
    tools = install_all(options)
    print("; ".join(map(report.title, tools)))
    found, is_whole = tell_truth(tools, options) if options.truth else measure(tools, options)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if is_whole else 1


def measure(tools: list[Installed], options: argparse.Namespace) -> tuple[object, bool]:
    """Speed: the figures, and whether all could be taken."""
    print(f"best of {options.rounds} rounds of {options.seconds:g} s; {platform.machine()}")
    rows = measure_all(tools, options)
    for block in report.blocks(rows):
        print("", *block, sep="\n")
    return report.as_json(rows), not any(row.trouble for row in rows)


def tell_truth(tools: list[Installed], options: argparse.Namespace) -> tuple[object, bool]:
    """Verdicts: what was said, and whether every tool said something."""
    said = [
        Said(tool, way, name, ask(tool, way, name, options.seconds))
        for name in TRUTHS
        for tool in tools
        for way in tool.tool.ways
        if not way.endswith("/line")  # says itself that it does not look into lines
    ]
    print("", *report.truth_table(said), sep="\n")
    return report.truth_as_json(said), all(isinstance(each.answer, Answer) for each in said)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter that has reenact")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each kind; the best counts")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each run")
    parser.add_argument("--searches", type=int, default=9, help="for the first failure; the median")
    parser.add_argument("--strategies", nargs="+", default=list(REENACT.ways), help="of reenact")
    parser.add_argument("--only", nargs="*", default=[], help="names of tools")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--truth", action="store_true", help="verdicts instead of speed")
    options = parser.parse_args()
    if min(options.rounds, options.searches) < 1 or options.seconds <= 0:
        parser.error("--rounds, --searches and --seconds must be positive")
    return options


def install_all(options: argparse.Namespace) -> list[Installed]:
    """All tools that are asked for; a peer that cannot be installed ends the run."""
    reenact = replace(REENACT, ways=tuple(options.strategies))
    chosen = [tool for tool in (reenact, *PEERS) if not options.only or tool.name in options.only]
    try:
        return [
            install(tool, options.cache) if tool.package else Installed(tool, options.python)
            for tool in chosen
        ]
    except ToolFailed as failure:
        raise SystemExit(f"explore.py: {failure}") from failure


def measure_all(tools: list[Installed], options: argparse.Namespace) -> list[Row]:
    """A row for each workload and way, then those of one and of two jobs."""
    rows = []
    for workload in (*RATES, FIRST_FAILURE):
        batch = [Row(workload, tool, way, workload) for tool in tools for way in tool.tool.ways]
        times = options.searches if workload == FIRST_FAILURE else options.rounds
        rows += run_in_turn(batch, times, options.seconds)
    for tool in tools:
        if not tool.tool.package:
            rounds = max(options.rounds, SCALING_ROUNDS)
            rows += run_in_turn(scaling_rows(tool), rounds, options.seconds)
    return rows


def scaling_rows(tool: Installed) -> list[Row]:
    """One job, two jobs, and one job again as a control of the measurement."""
    kinds = ((1, "jobs=1"), (2, "jobs=2"), (1, "jobs=1 again"))
    way = tool.tool.ways[0]
    return [Row("scaling", tool, way, SCALING, jobs, label) for jobs, label in kinds]


def run_in_turn(rows: list[Row], times: int, seconds: float) -> list[Row]:
    """Run each row's driver, all of them `times` times; one that fails is not run again."""
    for number in range(times):
        for row in rows:
            if row.trouble is None:
                print(f"{row.group}: {row.name} ...", file=sys.stderr, flush=True)
                run_once(row, number, seconds)
    return rows


def run_once(row: Row, number: int, seconds: float) -> None:
    """One answer more, or the reason why there are none."""
    try:
        answer = row.tool.run(row.workload, seconds, row.way, seed=1 + number, jobs=row.jobs)
    except ToolFailed as failure:
        row.trouble = str(failure)
        return
    row.answers.append(answer)
    if answer.note is not None:
        row.trouble = answer.note
    elif answer.failure is not None and not WORKLOADS[row.workload].has_bug:
        row.trouble = f"reports a failure where there is none: {answer.failure}"


def ask(tool: Installed, way: str, workload: str, seconds: float) -> Answer | str:
    """What a tool says of a program, or why it says nothing."""
    print(f"{workload}: {tool.tool.name} {way} ...", file=sys.stderr, flush=True)
    try:
        return tool.run(workload, seconds, way)
    except ToolFailed as failure:
        return str(failure)


if __name__ == "__main__":
    sys.exit(main())
