"""From the steps of a run to the switches that make it happen again.

Without switches a run goes on with the thread that runs, and when that cannot go on, with the next
one in order. A switch is where a run did otherwise, or may have: every change of thread is noted,
so that the run does not depend on what would have been the order.
"""

from __future__ import annotations

from reenact import _core
from reenact.strategies.dfs import is_choice
from reenact.strategies.searching import AMONG, COLLECTS, FORCED, PREEMPTS, Step, Switch


def of(steps: list[Step]) -> tuple[Switch, ...]:
    return tuple(
        Switch(step.previous, step.position, step.thread, _kind(step))
        for step in steps
        if step.count and _deviates(step)
    )


def _deviates(step: Step) -> bool:
    if is_choice(step):
        return step.thread != 0
    if is_collection(step):
        return True
    return step.thread != step.previous or (step.is_forced and step.count > 1)


def is_collection(step: Step) -> bool:
    return _core.OPERATIONS[step.operation] == "collect"


def _kind(step: Step) -> int:
    if is_choice(step):
        return AMONG
    if is_collection(step):
        return COLLECTS
    return FORCED if step.is_forced else PREEMPTS
