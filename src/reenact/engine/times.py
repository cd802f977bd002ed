"""An order of what nothing orders, by the time at which things happened.

Without a GIL nothing tells in which order threads came to their points. But lanes of a run whose
accesses are not recorded say of operations when they were, by the processor's counter. So each
seems to come after whatever was last before it, in another thread. That is a hint: between two
operations threads went on at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reenact.recordings.lanes import Hint, Item

Lanes = dict[int, Sequence[Item]]


def are_told(lanes: Lanes) -> bool:
    return any(item.time for items in lanes.values() for item in items)


def hinted(lanes: Lanes) -> Lanes:
    """The lanes with hints in them."""
    told = sorted(
        (item.time, thread, at)
        for thread, items in lanes.items()
        for at, item in enumerate(items)
        if item.time
    )
    made = {thread: list(items) for thread, items in lanes.items()}
    for (_, other, at_other), (_, thread, at) in pairwise(told):
        if other != thread:
            item = made[thread][at]
            hint = Hint(other, made[other][at_other].position)
            made[thread][at] = item._replace(hints=(*item.hints, hint))
    return dict(made)
