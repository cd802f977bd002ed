"""What a strategy is: the one who chooses which thread runs next.

A strategy sees, for every thread that can run, the operation it is about to do, and answers with
its choice. `queue` and `random` are built into the core and cost nothing per choice; any class
with the shape of `Strategy` can be given by its import path: `--strategy mypackage.mine:Mine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Candidate:
    """A thread that can run, and what it will do: `operation` is "none" at a tick."""

    thread: int
    operation: str
    object: int
    file: str
    line: int


class Strategy(Protocol):
    """Made once a run, called as `Strategy(seed)`.

    `slice` is the number of ticks after which it is asked in any case; it is asked at every
    operation anyhow. The first candidate is the running thread, if it can go on.
    """

    slice: int

    def choose(self, step: int, candidates: Sequence[Candidate]) -> int:
        """The position in `candidates` of the thread that runs now."""
        ...


@dataclass(frozen=True, slots=True)
class Builtin:
    """A strategy that the core knows; `kind` is its number in `_core/core.h`."""

    name: str
    kind: int
    slice: int
    summary: str


PYTHON_KIND = 2
