"""What the drivers share: their arguments, and the JSON that they print.

    python SOME_driver.py WORKLOAD SECONDS STRATEGY [--seed N] [--jobs N]

A driver explores one workload with one tool until SECONDS have passed or the tool reports a
failure, whichever comes first, and prints one line: how many schedules were run, in how many
seconds, the failure as text or null, and in `note` why a run without failure says nothing.
Imports are not timed. Runs on the Python of the tool, so that nothing newer than 3.11 is used.
"""

from __future__ import annotations

import argparse
import json
import resource
from dataclasses import asdict, dataclass

MEMORY_BYTES = 3 << 30


@dataclass(frozen=True)
class Request:
    """What a driver is asked to do."""

    workload: str
    seconds: float
    strategy: str
    seed: int
    jobs: int


@dataclass
class Answer:
    """What came of it."""

    schedules: int = 0
    seconds: float = 0.0
    failure: str | None = None
    note: str | None = None

    def print(self) -> None:
        """As one line of JSON, the last one: tools may print as well."""
        print(json.dumps(asdict(self)), flush=True)


def limit_memory() -> None:
    """For the peers: `dfs` of interleave-test takes all the machine has on `compute`."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def read_request() -> Request:
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("seconds", type=float)
    parser.add_argument("strategy")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    return Request(**vars(parser.parse_args()))
