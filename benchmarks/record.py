"""Measure what recording and replaying cost against stock Python, and how large recordings are.

    python benchmarks/record.py [--python PYTHON] [--rounds 5] [--only NAME ...] [--json FILE]

Prints tables and, for each target, `ok` or `MISSED`. The exit code says only whether everything
ran: times are for reading, not for failing a build.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import CASES, Case
from measure import CommandFailed, Commands, Measurement, measure
from report import as_json, judge, sizes_table, times_table

# Words after the interpreter. PROGRAM is the program with its arguments, RECORDING a fresh path.
PREFIX = "-m reenact"
RECORD = "record -o RECORDING PROGRAM"
REPLAY = "replay RECORDING"
INFO = "info --json RECORDING"


def main() -> int:
    """Measure the chosen cases and print."""
    options = parse()
    commands = make_commands(options)
    print(f"{version(options.python)}, {platform.machine()}, best of {options.rounds}")
    results, failures = measure_all(choose(options.only), commands, options)
    verdicts = judge(results)
    blocks = [times_table(results), sizes_table(results), [str(verdict) for verdict in verdicts]]
    for block in blocks:
        print("", *block, sep="\n")
    if options.json:
        report = {"python": version(options.python), **as_json(results, verdicts)}
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if failures or not results else 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter to measure")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind; the best counts")
    parser.add_argument("--only", nargs="*", default=[], help="groups or programs")
    parser.add_argument("--no-replay", action="store_true", help="leave out the replays")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument("--prefix", default=PREFIX, help=f"instead of `{PREFIX}`")
    parser.add_argument("--record", default=RECORD, help=f"instead of `{RECORD}`")
    parser.add_argument("--replay", default=REPLAY, help=f"instead of `{REPLAY}`")
    parser.add_argument(
        "--stand-in", action="store_true", help="stock Python in place of reenact, to try this out"
    )
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def make_commands(options: argparse.Namespace) -> Commands:
    """The command templates for this run."""
    if options.stand_in:
        return Commands(options.python, ("PROGRAM",), ("PROGRAM",), None)
    record, replay, info = (
        tuple(shlex.split(f"{options.prefix} {words}"))
        for words in (options.record, options.replay, INFO)
    )
    return Commands(options.python, record, replay, info)


def choose(only: list[str]) -> list[Case]:
    """The cases whose group, program or name is asked for; all if nothing is."""
    wanted = set(only)
    chosen = [
        case for case in CASES if not wanted or wanted & {case.group, case.program, case.name}
    ]
    if not chosen:
        names = sorted({case.group for case in CASES} | {case.program for case in CASES})
        raise SystemExit(f"--only: nothing is called so; there are {', '.join(names)}")
    return chosen


def measure_all(
    chosen: list[Case], commands: Commands, options: argparse.Namespace
) -> tuple[list[Measurement], int]:
    """Measure each case; one that fails is told on stderr and left out."""
    results = []
    for case in chosen:
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as scratch:
            try:
                results.append(
                    measure(case, commands, options.rounds, not options.no_replay, Path(scratch))
                )
            except CommandFailed as failure:
                print(f"FAILED: {failure}", file=sys.stderr)
    return results, len(chosen) - len(results)


def version(python: str) -> str:
    """What the interpreter calls itself."""
    command = [
        python,
        "-c",
        "import platform as p; print(p.python_implementation(), p.python_version())",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
