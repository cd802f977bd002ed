"""Collections find what died in them.

A serial replay keeps each object that has weak references until it dies where it died
(`_core/deaths.c`). What a collection finds must not be kept any more when it begins; what that was
comes after it in the lane.
"""

from __future__ import annotations

from collections.abc import Sequence

from reenact.recordings.lanes import ACCESS, COLLECT, RELEASED, SWEEP, SWEPT, Item


def released(items: Sequence[Item]) -> list[Item]:
    """The lane of a thread, with what dies in each collection let go before."""
    found: list[Item] = []
    swept: list[Item] = []
    for item in reversed(items):
        if item.kind == SWEPT:
            swept.append(item)
        if item.kind not in (COLLECT, SWEEP):
            found.append(item)
            continue
        alone = item._replace(after=(), hints=())
        found.append(alone if item.kind == COLLECT else alone._replace(kind=ACCESS))
        found += [
            alone._replace(kind=RELEASED, first=each.first, second=each.second) for each in swept
        ]
        found[-1] = found[-1]._replace(after=item.after, hints=item.hints)
        swept.clear()
    found.reverse()
    return found
