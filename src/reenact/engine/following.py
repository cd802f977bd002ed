"""Begins a run of a search in this process: under a plan's choices, in virtual time.

Called by `child.py` and `explore/called.py`, to record once more what a search has found, and for
every run of a search by `explore/runs.py`. The text form of a run stands in a recording's header; a
replay reads it too, and then does as it was recorded: the core knows which of the two it is.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from reenact import _core
from reenact.engine import machinery
from reenact.engine.child import FOLLOWS
from reenact.intercept import loops, numbers
from reenact.strategies.searching import Plan, Switch

STALL_NS = 3_000_000_000
_SLACK = 100  # who waits until a second from now has a little less of it left as the wait begins
POINTS = ("sync", "ticks", "accesses")

_is_prepared = False


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for all runs of a search."""

    points: str = "accesses"
    step_limit: int = 100_000
    patience_ns: int = 1_000_000_000
    is_virtual: bool = True
    stall_ns: int = 0  # how long nothing may happen while somebody is outside; 0: for ever


def prepare() -> None:
    """What a run needs of the process, once."""
    global _is_prepared
    if not _is_prepared:
        _is_prepared = True
        machinery.tell_core()
        loops.install()
    _core.explore_share(False)


def begin(plan: Plan, terms: Terms, hook: Callable[[int], None] | None = None) -> None:
    patience_ns = terms.patience_ns if plan.patience_ns is None else plan.patience_ns
    patience_ns -= patience_ns // _SLACK
    loops.begin(patience_ns / 1e9, keeps_beginnings=terms.patience_ns == 0)
    numbers.begin()
    if "random" in sys.modules:  # what is drawn must not differ from run to run
        sys.modules["random"].seed(0)
    prefix = struct.pack(f"{len(plan.prefix)}i", *plan.prefix)
    switches = None
    if plan.switches is not None:
        switches = b"".join(struct.pack("iIii", *switch) for switch in plan.switches)
    _core.explore_begin(
        plan.kind,
        plan.seed & (1 << 64) - 1,
        plan.depth,
        plan.length,
        terms.step_limit,
        patience_ns,
        POINTS.index(terms.points),
        prefix,
        plan.asleep,
        switches,
        plan.racy_limit,
        terms.is_virtual,
        hook,
        terms.stall_ns,
    )


def text(switches: tuple[Switch, ...], terms: Terms, loaded: tuple[str, ...] = ()) -> str:
    """A run as one line, for `begin_text`; `loaded` are modules to load before."""
    clock = "virtual" if terms.is_virtual else "real"
    stall_ns = terms.stall_ns or STALL_NS
    numbers = (terms.step_limit, terms.patience_ns, stall_ns)
    words = [",".join(loaded) or "-", terms.points, *map(str, numbers), clock]
    return FOLLOWS + " ".join(words + ["/".join(map(str, switch)) for switch in switches])


def begin_text(line: str) -> None:
    """Begin the run that `text` made a line of; a stranger's line gives a ValueError at worst."""
    _, points, step_limit, patience_ns, stall_ns, clock, *rest = words_of(line)
    is_virtual = clock == "virtual"
    terms = Terms(points, int(step_limit), int(patience_ns), is_virtual, int(stall_ns))
    switches = tuple(Switch(*map(int, each.split("/"))) for each in rest)
    begin(Plan(switches=switches), terms)


def load_text(line: str) -> None:
    """Before the gate is opened: load what the process of the search had loaded."""
    prepare()
    for name in words_of(line)[0].split(","):
        if name != "-":
            with suppress(Exception):  # the program will meet it, if it matters
                import_module(name)


def fail(error: BaseException) -> None:
    """A run has failed by an exception that is caught all the same, as that of a test is. Called
    while it is handled: `reenact debug` takes the call for the report of it, as it does that of
    `child.fail`."""


def words_of(line: str) -> list[str]:
    return line.removeprefix(FOLLOWS).split()
