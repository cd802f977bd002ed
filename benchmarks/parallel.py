"""Measure recorders of programs whose threads run in parallel, against stock and one another.

    python benchmarks/parallel.py [--python PYTHON] [--rounds 5] [--only NAME ...] [--json FILE]

Meant for a free-threaded interpreter; it says whether it has got one. Recorders that do not work
there are told and left out. Prints tables and, for each target, `ok` or `MISSED`. The exit code
says only whether everything ran and gave the right results: times are for reading.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import parallel_report as report
from parallel_cases import CASES, POINTS, RECORDERS, STOCK, WITHOUT, Case, Point, Recorder
from parallel_measure import Bench


def main() -> int:
    """Measure what is asked for, and print."""
    options = parse()
    chosen = choose(options.only)
    title = describe(options)
    print(title)
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as scratch:
        recorders = recorders_of(options)
        bench = Bench(
            options.python,
            recorders,
            options.rounds,
            options.scale,
            not options.no_replay,
            Path(scratch),
        )
        bench.recorders[:] = available(bench)
        gained = [bench.control()]
        rows = [bench.measure(case) for case in chosen]
        gained.append(bench.control())
    verdicts, wrong = report.judge(rows, min(gained)), report.wrong(rows)
    print(report.about_control(gained))
    for block in (*report.blocks(rows), [str(verdict) for verdict in verdicts], wrong):
        if block:
            print("", *block, sep="\n")
    if options.json:
        told = {"title": title, "control": gained, **report.as_json(rows, verdicts)}
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    return 1 if wrong else 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    names = [recorder.name for recorder in RECORDERS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter to measure")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind; the best counts")
    parser.add_argument("--only", nargs="*", default=[], help="groups, programs, axes or `micro`")
    parser.add_argument("--scale", type=float, default=1.0, help="how much work, 1 being all")
    parser.add_argument("--no-replay", action="store_true", help="leave out the replays")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    parser.add_argument(
        "--recorders",
        nargs="*",
        default=names,
        help=f"some of {', '.join(names)}, `again`; of light, `no O1`, `no O2` and `neither`",
    )
    parser.add_argument(
        "--recorder",
        action="append",
        default=[],
        metavar="NAME=WORDS",
        help="one more: words after `-m reenact record`, before `-o RECORDING PROGRAM`",
    )
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def choose(only: list[str]) -> list[Case | Point]:
    """What is asked for; all if nothing is."""
    called: dict[Case | Point, set[str]] = {
        **{case: {case.group, case.program} for case in CASES},
        **{point: {point.group, point.axis, point.name} for point in POINTS},
    }
    known = set().union(*called.values())
    if unknown := set(only) - known:
        raise SystemExit(
            f"--only: {', '.join(sorted(unknown))}: there are {', '.join(sorted(known))}"
        )
    return [case for case, names in called.items() if not only or names & set(only)]


def recorders_of(options: argparse.Namespace) -> list[Recorder]:
    """Those of the table that are asked for, and those that the command line has by itself."""
    again = Recorder("again", STOCK.record, STOCK.replay)
    known = {recorder.name: recorder for recorder in (*RECORDERS, *WITHOUT, again)}
    if unknown := set(options.recorders) - known.keys():
        raise SystemExit(f"--recorders: {', '.join(unknown)}: there are {', '.join(known)}")
    more = []
    for given in options.recorder:
        name, _, words = given.partition("=")
        model = known["serial"]
        more.append(
            Recorder(
                name, f"-m reenact record {words} -o RECORDING PROGRAM", model.replay, model.info
            )
        )
    return [known[name] for name in options.recorders] + more


def available(bench: Bench) -> list[Recorder]:
    """The recorders that work; the others are told."""
    working = []
    for recorder in bench.recorders:
        if why := bench.why_not(recorder):
            print(f"{recorder.name} is LEFT OUT: {why}")
        else:
            working.append(recorder)
    return working


def describe(options: argparse.Namespace) -> str:
    """What is measured, and where."""
    code = (
        "import platform as p, sys; is_on = getattr(sys, '_is_gil_enabled', lambda: True)();"
        "print(p.python_implementation(), p.python_version(), 'with the GIL',"
        "'on' if is_on else 'off')"
    )
    done = subprocess.run([options.python, "-c", code], capture_output=True, text=True, check=True)
    processors = len(os.sched_getaffinity(0))
    busy = os.getloadavg()[0]
    return (
        f"{done.stdout.strip()}, {platform.machine()}, {processors} processors "
        f"(load before: {busy:.1f}), best of {options.rounds}, scale {options.scale:g}"
    )


if __name__ == "__main__":
    sys.exit(main())
