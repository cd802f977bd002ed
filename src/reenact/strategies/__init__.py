"""The strategies, by name. A new one is a file here and a line in BUILTIN."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from reenact.errors import UsageError
from reenact.strategies.auto import Auto
from reenact.strategies.delay import Delay
from reenact.strategies.dfs import Dfs
from reenact.strategies.dpor import Dpor
from reenact.strategies.interface import PYTHON_KIND, Builtin, Candidate, Strategy
from reenact.strategies.pct import Pct
from reenact.strategies.pos import Pos
from reenact.strategies.queue import QUEUE, Queue
from reenact.strategies.random import RANDOM, RandomWalk
from reenact.strategies.searching import Searcher

BUILTIN = {strategy.name: strategy for strategy in (QUEUE, RANDOM)}
SEARCHERS: dict[str, Callable[[int], Searcher]] = {
    "auto": Auto,
    "random": RandomWalk,
    "pct": Pct,
    "pos": Pos,
    "delay": Delay,
    "dfs": Dfs,
    "dpor": Dpor,
    "queue": Queue,
}


_ONE_BY_ONE = ("dfs", "dpor", "queue")  # these go through executions in order


def searcher(name: str, seed: int, worker: int = 0) -> Searcher:
    """A strategy that plans many runs, by name.

    Several workers share a search by their seeds; what goes through executions one by one is the
    first one's, and the others sample meanwhile.
    """
    if name not in SEARCHERS:
        known = ", ".join(SEARCHERS)
        raise UsageError(f"unknown strategy {name!r}", advice=f"Use one of {known}.")
    if worker > 0 and name in _ONE_BY_ONE:
        name = "pos"
    made = SEARCHERS[name](seed + worker * 1_000_003)
    if worker > 0 and isinstance(made, Auto):
        made.leave_out("dpor")
    return made


def describe(name: str) -> Builtin:
    """The kind and default slice of a strategy; loads one that is written in Python."""
    if name in BUILTIN:
        return BUILTIN[name]
    return Builtin(name, PYTHON_KIND, load(name, seed=0).slice, "")


def load(name: str, seed: int) -> Strategy:
    """A strategy written in Python, from `module:Class`."""
    module, colon, attribute = name.partition(":")
    if not colon:
        known = ", ".join(BUILTIN)
        raise UsageError(
            f"unknown strategy {name!r}", advice=f"Use one of {known}, or module:Class of your own."
        )
    try:
        strategy: Strategy = getattr(import_module(module), attribute)(seed)
        strategy.slice + 0
    except Exception as error:
        raise UsageError(
            f"strategy {name!r} cannot be made: {type(error).__name__}: {error}",
            advice="It must be a class with `slice` and `choose(step, candidates)`.",
        ) from error
    return strategy


def chooser(strategy: Strategy, operations: tuple[str, ...]) -> Callable[..., int]:
    """What the core calls: plain tuples in, a position out."""

    def choose(step: int, threads: tuple[tuple[int, int, int, str, int], ...]) -> int:
        candidates = [
            Candidate(thread, operations[kind], object_id, file, line)
            for thread, kind, object_id, file, line in threads
        ]
        return strategy.choose(step, candidates)

    return choose
