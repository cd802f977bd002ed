"""Measure what `reenact run` costs against stock Python: compute, locks, servers, memory.

    python benchmarks/run.py [--python PYTHON] [--rounds 8] [--scale 0.4] [--requests 2000]
                             [--only compute|server|memory] [--json FILE]

Each round runs stock, in epochs, and in epochs with both tools, one after the other; of several
rounds the best counts. Short rounds, and many, find a quiet moment on a busy machine. The targets
are printed next to the figures, and missing one is no error: times are for reading.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import servers

HERE = Path(__file__).resolve().parent
COMPUTE = ("nbody", "fannkuch", "task_simulation", "json_parser", "nested_loops")
COMPUTE_RATIO = 1.15
SERVER_RATIO = 1.1
LIMIT_S = 600
EPOCHS = ("-m", "reenact", "run")
SHORT = (*EPOCHS, "--epoch", "0.5mb")
WAYS = {
    "stock": (),
    "run": EPOCHS,
    "tools": (*EPOCHS, "--tools", "overflow,use-after-free"),
}


def main() -> int:
    options = parse()
    document: dict[str, object] = {}
    if options.only in (None, "compute"):
        document["compute"] = all_compute(options)
    if options.only in (None, "server"):
        document["server"] = server(options)
    if options.only in (None, "memory"):
        document["memory"] = bounded(options)
    if options.json:
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter that has reenact")
    parser.add_argument("--rounds", type=int, default=8, help="the best counts")
    parser.add_argument("--scale", default="0.4", help="of the work of compute programs")
    parser.add_argument("--only", choices=("compute", "server", "memory"))
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    return parser.parse_args()


def verdict(ratio: float, most: float) -> str:
    return f"at most {most}: {'ok' if ratio <= most else 'MISSED'}"


def figures(python: str, prefix: tuple[str, ...], name: str, *args: str) -> dict[str, float]:
    """What a program prints at its end: its peak of memory, processor time and time."""
    command = [python, *prefix, str(HERE / "programs" / f"{name}.py"), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return {key: float(value) for key, value in re.findall(r"^(\w+) ([\d.]+)$", done.stdout, re.M)}


def all_compute(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    print(f"{'':20} {'stock':>10} {'run':>10} {'ratio':>9} {'with tools':>12}")
    ratios = {name: compute(name, options) for name in COMPUTE}
    for way in ("run", "tools"):
        mean = math.exp(sum(math.log(each[way]) for each in ratios.values()) / len(ratios))
        print(f"geometric mean, {way:5} {mean:31.3f}x  {verdict(mean, COMPUTE_RATIO)}", flush=True)
    return ratios


def compute(name: str, options: argparse.Namespace) -> dict[str, float]:
    cpu: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(options.rounds):
        for way, prefix in WAYS.items():
            cpu[way].append(figures(options.python, prefix, name, "2", options.scale)["cpu"])
    best = {way: min(seen) for way, seen in cpu.items()}
    ratios = {way: best[way] / best["stock"] for way in WAYS}
    print(
        f"{name:20} {best['stock']:8.3f} s {best['run']:8.3f} s {ratios['run']:8.3f}x "
        f"{ratios['tools']:11.3f}x",
        flush=True,
    )
    return ratios


def server(options: argparse.Namespace) -> float:
    """http.server under load from another process, eight connections."""
    stock, epochs = [], []
    for _ in range(options.rounds):
        stock.append(servers.run("http.server", 8, options, ()).cpu_s)
        epochs.append(servers.run("http.server", 8, options, EPOCHS).cpu_s)
    ratio = min(epochs) / min(stock)
    each = 1e6 / options.requests
    print(
        f"{'http.server':20} {min(stock) * each:7.0f} us {min(epochs) * each:7.0f} us "
        f"{ratio:8.3f}x  {verdict(ratio, SERVER_RATIO)}",
        flush=True,
    )
    return ratio


def bounded(options: argparse.Namespace) -> dict[str, float]:
    """A million operations on a lock, in many epochs: memory must not grow with their number."""
    peaks = {}
    for label, scale in (("stock", "1"), ("50,000 turns", "0.05"), ("1,000,000 turns", "1")):
        prefix = () if label == "stock" else SHORT
        peaks[label] = figures(options.python, prefix, "lock_heavy", "2", scale)["peak"]
        print(f"memory, {label:20} {peaks[label] / 1024:8.1f} MB", flush=True)
    return peaks


if __name__ == "__main__":
    sys.exit(main())
