"""The default: a portfolio that gives every strategy a share and follows what yields new behaviour.

The first run is the one without preemptions. Then each strategy makes a few runs, and after that
the next run goes to the one with the best yield: runs whose order of dependent operations had not
been seen, of its latest runs, with a bonus for one that has not been asked for long (the rule is
UCB1: Auer, Cesa-Bianchi, Fischer, Machine Learning 2002, on a sliding window). If reduction has
seen every execution, and there were no sleeps or time-outs, which it leaves aside, the search is
over.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from reenact.strategies.delay import Delay
from reenact.strategies.dpor import Dpor
from reenact.strategies.pct import Pct
from reenact.strategies.pos import Pos
from reenact.strategies.queue import Queue
from reenact.strategies.random import RandomWalk
from reenact.strategies.searching import Plan, Searcher, Seen

_WINDOW = 50
_SHARE = 4  # runs that each makes before yields are compared


class _Arm:
    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self.runs = 0
        self.is_new: deque[bool] = deque(maxlen=_WINDOW)

    def score(self, total: int) -> float:
        if self.runs < _SHARE:
            return math.inf
        bonus = math.sqrt(2 * math.log(total + 1) / self.runs)
        return sum(self.is_new) / len(self.is_new) + bonus


class Auto:
    name = "auto"

    def __init__(self, seed: int) -> None:
        self.exhausted = ""
        searchers: tuple[Searcher, ...] = (
            Pos(seed),
            Pct(seed),
            RandomWalk(seed),
            Delay(seed),
            Dpor(seed),
        )
        self.arms = {searcher.name: _Arm(searcher) for searcher in searchers}
        self.first: Searcher | None = Queue(seed)
        self.total = 0
        self.is_timed = False
        self._seen: set[int] = set()

    def leave_out(self, name: str) -> None:
        del self.arms[name]

    def plan(self) -> Plan | None:
        if self.first is not None:
            return self.first.plan()
        while self.arms and not self.exhausted:
            arm = max(self.arms.values(), key=lambda each: each.score(self.total))
            plan = arm.searcher.plan()
            if plan is not None:
                return plan
            del self.arms[arm.searcher.name]
            if not self.is_timed:
                self.exhausted = arm.searcher.exhausted
        return None

    def learn(self, seen: Seen) -> None:
        self.total += 1
        self.is_timed |= seen.is_timed
        is_new = seen.fingerprint not in self._seen
        self._seen.add(seen.fingerprint)
        self.first = None
        for name, arm in self.arms.items():
            if name == seen.plan.strategy:
                arm.runs += 1
                arm.is_new.append(is_new)
                arm.searcher.learn(seen)
                break
        self._share_length(seen.length)

    def state(self) -> dict[str, Any]:
        arms = {
            name: [arm.runs, list(arm.is_new), arm.searcher.state()]
            for name, arm in self.arms.items()
        }
        return {
            "exhausted": self.exhausted,
            "arms": arms,
            "total": self.total,
            "is_timed": self.is_timed,
            "seen": sorted(self._seen),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.exhausted, self.total, self.is_timed = (
            state["exhausted"],
            state["total"],
            state["is_timed"],
        )
        self.first = None if self.total else self.first
        self._seen = set(state["seen"])
        self.arms = {name: arm for name, arm in self.arms.items() if name in state["arms"]}
        for name, arm in self.arms.items():
            arm.runs, is_new, searcher = state["arms"][name]
            arm.is_new.extend(is_new)
            arm.searcher.restore(searcher)

    def _share_length(self, length: int) -> None:
        """How long runs are, one strategy can learn from another."""
        for name in ("pct", "delay"):
            if name in self.arms:
                searcher = self.arms[name].searcher
                assert isinstance(searcher, (Pct, Delay))
                searcher.length = max(searcher.length, length)
