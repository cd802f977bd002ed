"""Measure what recording costs a server: processor time per request, throughput, bytes.

    python benchmarks/servers.py [--python PYTHON] [--rounds 5] [--requests 2000] [--json FILE]

Each round runs the server stock and recorded, one after the other, under the same load from
another process; of several rounds the best counts. Flask must be installed to be measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("http.server", "flask")
CONNECTIONS = (1, 8, 32)
CPU_RATIO = 1.15
THROUGHPUT_RATIO = 0.87
LIMIT_S = 300


@dataclass
class Run:
    """One run of a server under load."""

    cpu_s: float
    seconds: float
    bytes: int = 0


def main() -> int:
    options = parse()
    print(f"{options.requests} requests, best of {options.rounds}")
    print(
        f"{'server':12} {'connections':>11} {'cpu/request':>12} {'recorded':>9} {'ratio':>7} "
        f"{'throughput':>11} {'bytes/request':>14}"
    )
    rows = [row for kind in KINDS for row in measure_kind(kind, options)]
    print("\nfor comparison, per request: tsan11rec 4.8 KB, rr 0.3 KB (their papers, httpd)")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", default=sys.executable, help="interpreter to measure")
    parser.add_argument("--rounds", type=int, default=5, help="the best counts")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    return parser.parse_args()


def measure_kind(kind: str, options: argparse.Namespace) -> list[dict[str, object]]:
    if kind == "flask" and not has_flask(options.python):
        print("flask        SKIPPED: it is not installed", flush=True)
        return []
    return [measure(kind, connections, options) for connections in CONNECTIONS]


def has_flask(python: str) -> bool:
    return subprocess.run([python, "-c", "import flask"], capture_output=True).returncode == 0


def measure(kind: str, connections: int, options: argparse.Namespace) -> dict[str, object]:
    stock: list[Run] = []
    recorded: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as scratch:
        for number in range(options.rounds):
            path = Path(scratch, f"{number}.reenact")
            record = ("-m", "reenact", "record", "-o", str(path))
            stock.append(run(kind, connections, options, ()))
            recorded.append(run(kind, connections, options, record))
            recorded[-1].bytes = path.stat().st_size
    cpu = min(each.cpu_s for each in stock), min(each.cpu_s for each in recorded)
    seconds = min(each.seconds for each in stock), min(each.seconds for each in recorded)
    ratio, throughput = cpu[1] / cpu[0], seconds[0] / seconds[1]
    size = recorded[0].bytes / options.requests
    verdict = "ok" if ratio <= CPU_RATIO and throughput >= THROUGHPUT_RATIO else "MISSED"
    print(
        f"{kind:12} {connections:11} {cpu[0] / options.requests * 1e6:9.0f} us "
        f"{cpu[1] / options.requests * 1e6:6.0f} us {ratio:6.3f}x {throughput:10.3f}x {size:14.0f} "
        f" {verdict}",
        flush=True,
    )
    runs = {"stock": list(map(asdict, stock)), "recorded": list(map(asdict, recorded))}
    return {"server": kind, "connections": connections, "cpu": ratio, "runs": runs}


def run(kind: str, connections: int, options: argparse.Namespace, prefix: tuple[str, ...]) -> Run:
    """One run, by what `prefix` says: stock Python if it is empty."""
    command = [options.python, *prefix, str(HERE / "programs" / "server.py"), kind]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = server.stdout.readline().split()[1]
    load = [options.python, str(HERE / "load.py"), port, str(connections), str(options.requests)]
    done = subprocess.run(load, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    output = server.communicate(timeout=LIMIT_S)[0]
    cpu_s = float(output.split()[1])
    return Run(cpu_s, float(done.stdout))


if __name__ == "__main__":
    sys.exit(main())
