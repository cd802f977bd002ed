"""First come, first served: each thread runs for a time slice, then goes to the end of the queue.

The choices are made in `_core/gate.c` (`first_enabled`). The slice is counted in points, so a
run of the same program with the same inputs makes the same choices. This is tsan11rec's queue
strategy with a slice, which spin loops need to end. Exploring, it is the one execution in which
nobody is preempted.
"""

from __future__ import annotations

from typing import Any

from reenact.strategies.interface import Builtin
from reenact.strategies.searching import FIRST, Plan, Seen

# Where threads run on several processors, what a thread needs is not in the caches when its turn
# comes, and short turns pay for that more often. So there are two more kinds of turns, as long as
# Python's own: by the clock, and nearly, but with the same choices in every run.
TURNS_BY_TIME = 0
LONG_TURNS = 50_000
QUEUE = Builtin("queue", kind=0, slice=5000, summary="first come, first served, in time slices")


class Queue:
    name = "queue"
    exhausted = ""

    def __init__(self, seed: int) -> None:
        del seed  # there is nothing to draw

    def plan(self) -> Plan | None:
        return None if self.exhausted else Plan(FIRST, strategy=self.name)

    def learn(self, seen: Seen) -> None:
        self.exhausted = "the one execution without preemptions"

    def state(self) -> dict[str, Any]:
        return {"exhausted": self.exhausted}

    def restore(self, state: dict[str, Any]) -> None:
        self.exhausted = state["exhausted"]
