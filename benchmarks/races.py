"""Measure what looking for races costs against stock Python, next to the peers; and who finds what.

    python benchmarks/races.py [--python PYTHON] [--rounds 5] [--only NAME ...] [--json FILE]

The peers are installed by this script, each into an environment of its own below --cache. Prints
tables and, for each target, `ok` or `MISSED`. The exit code says only whether reenact ran
everything: times are for reading, not for failing a build.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path

import races_report as report
from peers.tools import DETECTORS, ROOT, Installed, ToolFailed, install
from races_cases import CASES, SEEDED, SEEDED_GROUP, SERVERS, Case, Server
from races_measure import Bench


def main() -> int:
    """Measure what is asked for, and print."""
    options = parse()
    chosen, with_seeded = choose(options)
    peers = [] if options.no_peers else install_peers(options.cache)
    bench = Bench(options.python, peers, options.rounds, options.requests)
    print(title(options, peers))
    rows = [
        bench.program(case) if isinstance(case, Case) else bench.server(case) for case in chosen
    ]
    said = [bench.seeded(program) for program in SEEDED] if with_seeded else []
    names = [peer.tool.name for peer in peers]
    for block in report.blocks(rows, said, names):
        print("", *block, sep="\n")
    if options.json:
        options.json.write_text(json.dumps(report.as_json(rows, said, names), indent=1) + "\n")
    return 1 if any(row.reenact.trouble for row in rows) else 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter that has reenact")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind; the best counts")
    parser.add_argument("--requests", type=int, default=1500, help="to each server")
    parser.add_argument("--only", nargs="*", default=[], help="groups, programs, `seeded`")
    parser.add_argument("--no-peers", action="store_true", help="leave out the peers")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    options = parser.parse_args()
    if min(options.rounds, options.requests) < 1:
        parser.error("--rounds and --requests must be positive")
    return options


def choose(options: argparse.Namespace) -> tuple[list[Case | Server], bool]:
    """What is asked for; all if nothing is. Without Flask its servers are left out, and told."""
    wanted = set(options.only)
    names: dict[Case | Server, set[str]] = {
        **{case: {case.group, case.program, case.name} for case in CASES},
        **{server: {server.group, server.kind} for server in SERVERS},
    }
    known = {SEEDED_GROUP}.union(*names.values())
    if wanted - known:
        unknown = ", ".join(sorted(wanted - known))
        raise SystemExit(f"--only: {unknown}: there are {', '.join(sorted(known))}")
    chosen = [case for case, called in names.items() if not wanted or wanted & called]
    without_flask = [case for case in chosen if not needs_flask(case)]
    if len(without_flask) < len(chosen) and not has_flask(options.python):
        print("SKIPPED: the servers that need Flask: it is not installed")
        chosen = without_flask
    return chosen, not wanted or SEEDED_GROUP in wanted


def needs_flask(case: Case | Server) -> bool:
    """All servers but one."""
    return isinstance(case, Server) and case.kind != "http.server"


def has_flask(python: str) -> bool:
    """Whether it can be imported."""
    return subprocess.run([python, "-c", "import flask"], capture_output=True).returncode == 0


def install_peers(cache: Path) -> list[Installed]:
    """Those that can be installed; the others are told."""
    peers = []
    for tool in DETECTORS:
        try:
            peers.append(install(tool, cache))
        except ToolFailed as failure:
            print(f"{tool.name} is LEFT OUT: it cannot be installed: {failure}")
    return peers


def title(options: argparse.Namespace, peers: list[Installed]) -> str:
    """What is compared, and where."""
    code = "import platform; print(platform.python_version())"
    done = subprocess.run([options.python, "-c", code], capture_output=True, text=True, check=True)
    told = [f"{peer.tool.package} on Python {peer.version}" for peer in peers]
    tools = "; ".join([f"reenact on Python {done.stdout.strip()}", *told])
    return f"{tools}\nbest of {options.rounds} rounds; {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main())
