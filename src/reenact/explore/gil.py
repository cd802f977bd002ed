"""Can a failure happen with the GIL, or only where threads run at the same time?

A schedule preempts a thread before some operation. With the GIL the thread can only be switched at
certain instructions (`checks.py`). It does not have to be right before the operation: anywhere
between the last thing that it did and the first that it will do which others do something about in
the meantime. If there is such an instruction for each preemption, the failure is *reachable with
the GIL*, else it needs a free-threaded interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from reenact.explore.checks import Checks
from reenact.explore.runs import Observable
from reenact.explore.trail import Event, Trail, events_of
from reenact.findings import Failure
from reenact.strategies.searching import PREEMPTS, Plan, Switch

BUDGET = 60  # runs
_WAITS = ("acquire", "get", "join", "sleep", "call")
Switches = tuple[Switch, ...]
Label = Literal["reachable with the GIL", "free-threaded only", "unknown"]


def label(switches: Iterable[Switch], events: Sequence[Event]) -> Label:
    """For a run's switches, from a trail that has counted checks."""
    answers = [is_reachable(each, events) for each in switches if each.kind == PREEMPTS]
    if False in answers:
        return "free-threaded only"
    return "unknown" if None in answers else "reachable with the GIL"


def prefer_reachable(
    runner: Observable, switches: Switches, failure: Failure, budget_runs: int = BUDGET
) -> Switches:
    """Switches of the same kind that fail as well, and that the GIL allows, if there are any.

    Preemptions that it does not allow are moved to places of the same thread where it does, the
    nearest first; what failed in one place often fails in another.
    """
    while budget_runs > 0:
        ran, said = runner.observed(Plan(switches=switches), Trail(False, Checks()).begin)
        events = events_of(said)
        budget_runs -= 1
        bad = [
            each for each in switches if each.kind == PREEMPTS and not is_reachable(each, events)
        ]
        if not bad or ran.failure is None:
            return switches
        for moved in _moves(bad[0], events):
            candidate = tuple(moved if each == bad[0] else each for each in switches)
            budget_runs -= 1
            again = runner.run(Plan(switches=candidate)).failure
            if again is not None and again.is_like(failure):
                switches = candidate
                break
            if budget_runs <= 0:
                return switches
        else:
            return switches
    return switches


def _moves(switch: Switch, events: Sequence[Event]) -> Iterator[Switch]:
    """To before other events of the thread that it can be switched right before."""
    own = [each for each in events if each.index == switch.thread]
    places = []
    for before, after in pairwise(own):
        if after.position != switch.position and (before.in_call or after.checks > before.checks):
            places.append(after.position)
    for position in sorted(places, key=lambda each: abs(each - switch.position)):
        yield switch._replace(position=position)


def is_reachable(switch: Switch, events: Sequence[Event]) -> bool | None:
    """None if the thread's instructions were not seen."""
    before, after = window(switch, events)
    if before is None:  # it has just begun, and a thread begins by calling a function
        return True
    if after is None or before.checks < 0 or after.checks < 0:
        return None
    return before.in_call or after.checks > before.checks or _may_wait(before, after, events)


def _may_wait(before: Event, after: Event, events: Sequence[Event]) -> bool:
    """Did the thread do something on the way that it may have to wait for? Who has waited gets what
    it waited for without the GIL, and others may run before it has the GIL again."""
    own = [each for each in events if each.index == before.index]
    between = [each for each in own if before.position <= each.position < after.position]
    return any(each.place.operation in _WAITS for each in between)


def window(switch: Switch, events: Sequence[Event]) -> tuple[Event | None, Event | None]:
    """Between which events of the thread the switch could be just as well."""
    own = [each for each in events if each.index == switch.thread]
    past = [each for each in own if each.position < switch.position and each.order >= 0]
    coming = [each for each in own if each.position >= switch.position]
    others = touched_by(meanwhile(switch, events))
    before = next((each for each in reversed(past) if conflicts(each, others)), None)
    after = next((each for each in coming if conflicts(each, others)), None)
    return before, after if after is not None else (coming[0] if coming else None)


def meanwhile(switch: Switch, events: Sequence[Event]) -> list[Event]:
    """What other threads did, or tried to do, while the thread was kept from going on."""
    own = [each for each in events if each.index == switch.thread]
    start = max((each.order for each in own if each.position < switch.position), default=0)
    ends = [each.order for each in own if each.position == switch.position and each.order >= 0]
    end = ends[0] if ends else 2 * len(events) + 1
    others = [each for each in events if each.index != switch.thread]
    return [each for each in others if start < each.order < end or start < each.came < end]


def touched_by(events: Iterable[Event]) -> dict[int, bool]:
    """The things that events touch, and whether one of them does more than read it."""
    touched: dict[int, bool] = {}
    for each in events:
        if each.thing:
            touched[each.thing] = touched.get(each.thing, False) or not each.reads
    return touched


def conflicts(event: Event, touched: dict[int, bool]) -> bool:
    return event.thing in touched and (touched[event.thing] or not event.reads)
