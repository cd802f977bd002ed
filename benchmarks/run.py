"""Measure what `reenact run` costs against stock Python: compute, locks, servers, memory.

    python benchmarks/run.py [--python PYTHON] [--rounds 5] [--requests 2000] [--json FILE]

Each round runs stock and in epochs, one after the other; of several rounds the best counts. The
targets are printed next to the figures, and missing one is no error: times are for reading.
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


def main() -> int:
    options = parse()
    ratios = {name: compute(name, options) for name in COMPUTE}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    print(f"{'geometric mean':20} {mean:28.3f}x  {verdict(mean, COMPUTE_RATIO)}")
    ratios["servers"] = server(options)
    memory = bounded(options)
    if options.json:
        document = {"ratios": ratios, "memory": memory}
        options.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter that has reenact")
    parser.add_argument("--rounds", type=int, default=5, help="the best counts")
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


def compute(name: str, options: argparse.Namespace) -> float:
    stock, epochs = [], []
    for _ in range(options.rounds):
        stock.append(figures(options.python, (), name, "2")["cpu"])
        epochs.append(figures(options.python, EPOCHS, name, "2")["cpu"])
    ratio = min(epochs) / min(stock)
    print(f"{name:20} {min(stock):8.3f} s {min(epochs):8.3f} s {ratio:8.3f}x", flush=True)
    return ratio


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
