"""What it takes to replay recordings of Light's order, by the number of accesses: its table 1.

    python benchmarks/light_replays.py [--operations 25000 100000 400000] [--threads 4]

Records Ditto's microbenchmark with `--order light`, makes a serial recording of it (which is where
the order is found), and replays that. Seconds are of whole processes; `start` is what a process
takes that does next to nothing, and is in each of them. Intervals are what was recorded of
accesses, dependences those that begin with a read of another thread's write. Exits with 1 if a
replay did not read what the recording did.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from measure import run
from parallel_cases import PROGRAMS
from parallel_measure import result_of

COUNTS = """
import sys
from reenact.recordings.reader import Recording
recording = Recording.open(sys.argv[1])
found = []
for lane in recording.lanes(found).values():
    for item in lane:
        pass
others = [each for each in found if each.source and each.source[0] not in (-1, each.thread)]
print(len(found), len(others))
"""
REENACT = [sys.executable, "-m", "reenact"]


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--operations", nargs="*", type=int, default=[25000, 100000, 400000])
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(f"start {min(run([*REENACT, 'sources'])[0] for _ in range(3)):.2f} s")
    print("   accesses  intervals  dependences  record s  order s  replay s")
    is_same = True
    for operations in options.operations:
        rounds = [measure(operations, options.threads) for _ in range(options.rounds)]
        is_same = is_same and all(row[0] for row in rounds)
        best = min(rounds, key=lambda row: row[-2] + row[-1])
        accesses = f"{operations * options.threads:11,}"
        print(f"{accesses} {best[1]:10,} {best[2]:12,}", *(f"{each:9.2f}" for each in best[3:]))
    return 0 if is_same else 1


def measure(operations: int, threads: int) -> tuple[bool, int, int, float, float, float]:
    """Was the replay as the recording? Then numbers, and seconds."""
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as scratch:
        recording, serial = Path(scratch, "light.reenact"), Path(scratch, "serial.reenact")
        program = [str(PROGRAMS / "ditto_micro.py"), "--threads", str(threads)]
        program += ["--operations", str(operations)]
        light = ["--engine", "parallel", "--order", "light", "-o", str(recording)]
        record_s, recorded = run([*REENACT, "record", *light, *program])
        counts = re.findall(r"\d+", run([sys.executable, "-c", COUNTS, str(recording)])[1])
        convert = [*REENACT, "convert", str(recording), "--to", "serial", "-o", str(serial)]
        order_s, _ = run(convert)
        replay_s, replayed = run([*REENACT, "replay", str(serial)])
        is_same = result_of(recorded) == result_of(replayed)
        return is_same, int(counts[0]), int(counts[1]), record_s, order_s, replay_s


if __name__ == "__main__":
    sys.exit(main())
