"""What a search is made of: plans of runs, what came of them, and who makes the next plan.

A *searcher* is a strategy that sees many runs: it plans one, learns what came of it, and plans the
next. Those that only draw numbers leave the choices of a run to `_core/search.c`, which knows
them by `kind`; those that go through executions one by one give each run a prefix of choices.
A new searcher is a file here and a line in `strategies/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

FIRST, RANDOM, PCT, POS, DELAY = range(5)  # the numbers in `_core/core.h`
COMPLETE, DEADLOCK, LIMIT, REDUNDANT, STALE = range(5)  # how a run ended, from there too

PREEMPTS, FORCED, AMONG, COLLECTS = range(4)  # kinds of switches, likewise


class Switch(NamedTuple):
    """At this position of a thread, another goes on. Positions count operations and accesses.

    Kinds: PREEMPTS a thread that could go on; FORCED, since the thread waits; AMONG the tasks of an
    event loop, `to` being a position in their queue; COLLECTS: no switch, but a collection of
    garbage, whose callbacks the program has something to do in.
    """

    thread: int
    position: int
    to: int
    kind: int


class Step(NamedTuple):
    """What one thread did between two choices, and who else could have gone on instead."""

    thread: int
    operation: int
    writes: bool
    key: int  # of what it touched, 0 for nothing that others could
    enabled: int  # a bit for each thread
    site: int
    position: int
    previous: int  # the thread that ran before
    count: int  # type: ignore[assignment]  # a tuple has a method of this name
    is_forced: bool  # the thread before could not go on
    asleep: int  # threads that need not go on here, since it was seen what comes of it
    joined: int  # threads that this one has joined since its last step
    parent: int  # of the thread
    waits: bool  # it waits for what it touches, for ever if need be


@dataclass(frozen=True, slots=True)
class Plan:
    """The choices of a run, as far as they are settled before it begins."""

    kind: int = FIRST
    seed: int = 0
    depth: int = 0
    length: int = 0
    prefix: tuple[int, ...] = ()
    asleep: int = 0
    switches: tuple[Switch, ...] | None = None
    patience_ns: int | None = None  # delays that are as long come last; None for the search's own
    racy_limit: int = -1  # accesses found to race since count from the next run on
    strategy: str = ""


@dataclass(slots=True)
class Seen:
    """What came of a run, as a searcher sees it. `steps()` is of use until the next run begins."""

    plan: Plan
    end: int
    length: int  # choices among several threads
    fingerprint: int  # of the order of dependent operations
    preemptions: int
    racy: int  # sites known to race by now
    is_timed: bool  # there were sleeps or time-outs
    steps: Callable[[], list[Step]] = field(repr=False)
    useful: int | None = None  # so many steps, until the plan did not fit or led to nothing new


class Searcher(Protocol):
    """Plans runs. `exhausted` says in words which executions have all been seen, "" if some are
    left; after that `plan` returns None."""

    name: str
    exhausted: str

    def plan(self) -> Plan | None: ...

    def learn(self, seen: Seen) -> None: ...

    def state(self) -> dict[str, Any]:
        """All that `restore` needs to go on from here in another process, fit for JSON."""
        ...

    def restore(self, state: dict[str, Any]) -> None: ...


class Sampler:
    """A searcher whose runs differ in their seeds alone."""

    name = "random"
    kind = RANDOM
    exhausted = ""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.runs = 0
        self.length = 0  # of the longest run so far

    def plan(self) -> Plan | None:
        self.runs += 1
        return Plan(
            kind=self.kind,
            seed=(self.seed * 0x9E3779B97F4A7C15 + self.runs) & (1 << 64) - 1,
            depth=self.depth(),
            length=self.length,
            strategy=self.name,
        )

    def depth(self) -> int:
        return 0

    def learn(self, seen: Seen) -> None:
        self.length = max(self.length, seen.length)

    def state(self) -> dict[str, Any]:
        return {"runs": self.runs, "length": self.length}

    def restore(self, state: dict[str, Any]) -> None:
        self.runs, self.length = state["runs"], state["length"]
