"""A server with a rare race, in epochs and under load: what becomes of its failures and requests.

    python -m tests.guard.serving [--requests 20000] [--one-in 4000] [--epoch 2s]

The load comes from this process, over eight connections. Prints how many requests were answered,
how many failed, how many of the failures were run again identically at the first try, and how many
of the reports name both lines that race. Exits with 1 unless all of them do.
"""

from __future__ import annotations

import argparse
import http.client
import re
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).parent / "programs" / "server.py"
CONNECTIONS = 8
AGAIN = re.compile(r"the epoch \(steps \d+ to \d+\) was run again, identically, at the first try")


@dataclass(frozen=True)
class Served:
    """What clients saw, by status, and what the reports say."""

    requests: int
    statuses: Counter[int]
    counted: int  # by the server
    failures: int
    identical: int
    naming_both_lines: int
    exit_code: int

    @property
    def is_well(self) -> bool:
        return (
            self.exit_code == 0
            and self.statuses.total() == self.requests == self.counted
            and self.statuses[500] == self.failures == self.identical == self.naming_both_lines
        )

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests: {self.statuses[200]:,} served, {self.failures} failed; "
            f"{self.identical} run again identically at the first try, "
            f"{self.naming_both_lines} reports name both lines"
        )


def line_of(text: str) -> int:
    lines = PROGRAM.read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(text))


def serve(requests: int, one_in: int, epoch: str) -> Served:
    """Run the server until all requests are answered."""
    options = ("--on-failure", "continue", "--epoch", epoch)
    command = [sys.executable, "-m", "reenact", "run", *options, str(PROGRAM), str(one_in)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert server.stdout is not None
    port = int(server.stdout.readline().split()[1])
    said: list[str] = []
    reading = threading.Thread(target=lambda: said.extend(server.stdout or ()))
    reading.start()
    statuses = load(port, requests)
    ask(port, "/end", 1, Counter())
    exit_code = server.wait(300)
    reading.join()
    return judge(requests, statuses, "".join(said), exit_code)


def load(port: int, requests: int) -> Counter[int]:
    found = [Counter[int]() for _ in range(CONNECTIONS)]
    each = requests // CONNECTIONS
    threads = [threading.Thread(target=ask, args=(port, "/", each, one)) for one in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(found, Counter())


def ask(port: int, path: str, times: int, statuses: Counter[int]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    for _ in range(times):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        statuses[answer.status] += 1
    connection.close()


def judge(requests: int, statuses: Counter[int], said: str, exit_code: int) -> Served:
    reports = said.split("FAILED: ")[1:]
    lines = [f"server.py:{line_of(text)} in count" for text in ("# read", "# write")]
    races = [report.partition("race on Counter.total")[2] for report in reports]
    counted = re.search(r"^served (\d+)$", said, re.M)
    return Served(
        requests,
        statuses,
        int(counted[1]) if counted else -1,
        sum("a count was lost" in report.partition("\n")[0] for report in reports),
        sum(bool(AGAIN.search(report)) for report in reports),
        sum(all(line in race for line in lines) for race in races),
        exit_code,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=20_000, help="a multiple of eight")
    parser.add_argument("--one-in", type=int, default=4000, help="requests is slow")
    parser.add_argument("--epoch", default="2s")
    options = parser.parse_args()
    served = serve(options.requests, options.one_in, options.epoch)
    print(served)
    return 0 if served.is_well else 1


if __name__ == "__main__":
    sys.exit(main())
