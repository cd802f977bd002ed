"""Other ways through the lanes of a parallel run: orders of all threads that they allow as well.

What lanes say happened in that order; what they do not say may have happened in any. A thread can
be left for another to go on before a point, or, where it is known from hints, at an instruction
between two points; which of several times that was is not known, nor is all that C code does there.
`linear.py` goes a way, `tries.py` looks for one that leads to what was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from reenact.engine import times
from reenact.recordings.lanes import ACCESS, BETWEEN, Hint, Item

ANYBODY = -1  # in place of a thread, in hints: whoever can go on
Spot = tuple[int, int]  # a thread, and a position of it

# How a thread is left at a spot, that is between this position and the next: where a hint says,
# after so many times; or else
BEFORE, AFTER = -2, -1  # before it passes the point at all; where it comes to the next


class Left(NamedTuple):
    """A thread was left at a step, for another to go on."""

    step: int
    spot: Spot
    is_between: bool


@dataclass
class Way:
    """One of the orders that lanes allow, by how threads are left at some spots, and whether it
    goes by the times at which things happened. Filled in on the way: `left`, where threads were,
    and `knows_times`, whether there are any."""

    spots: dict[Spot, int] = field(default_factory=dict)
    goes_by_times: bool = False
    left: list[Left] = field(default_factory=list)
    knows_times: bool = False


def laid(lanes: dict[int, Sequence[Item]], way: Way) -> dict[int, Sequence[Item]]:
    """The lanes with places in them where a thread waits for those that it is thought to wait for
    at its next point; others think that it has come there, and no further."""
    way.knows_times = times.are_told(lanes)
    lanes = times.hinted(lanes) if way.goes_by_times else lanes
    known = {
        (hint.thread, hint.position): hint
        for items in lanes.values()
        for item in items
        for hint in item.hints
        if hint.code
    }
    if not known and not way.spots:
        return lanes
    held = {spot for spot, how in way.spots.items() if how == BEFORE}
    spots: dict[int, set[int]] = {}
    for thread, position in known.keys() | held:
        spots.setdefault(thread, set()).add(position)
    made: dict[int, Sequence[Item]] = {}
    for thread, items in lanes.items():
        chosen = {
            position: (way.spots.get((thread, position), 0), known.get((thread, position)))
            for position in spots.get(thread, ())
        }
        made[thread] = [_lowered(item, held) for item in _with_places(items, chosen)]
    return made


def _lowered(item: Item, held: set[Spot]) -> Item:
    if not item.hints or not held:
        return item
    lowered = (
        Hint(each.thread, each.position - 1) if (each.thread, each.position) in held else each
        for each in item.hints
    )
    return item._replace(hints=tuple(lowered))


def _with_places(
    items: Sequence[Item], chosen: dict[int, tuple[int, Hint | None]]
) -> Iterator[Item]:
    following = {
        item.position - 1: item.hints
        for item in reversed(items)
        if item.hints and item.position - 1 in chosen
    }
    waiting = sorted(chosen, reverse=True)
    for item in items:
        while waiting and _is_due(waiting[-1], chosen, item):
            yield from _place(waiting.pop(), chosen, following)
        yield item
    while waiting:
        yield from _place(waiting.pop(), chosen, following)


def _is_due(position: int, chosen: dict[int, tuple[int, Hint | None]], item: Item) -> bool:
    is_before = chosen[position][0] == BEFORE
    return position < item.position or (is_before and position == item.position)


def _place(
    position: int,
    chosen: dict[int, tuple[int, Hint | None]],
    following: dict[int, tuple[Hint, ...]],
) -> Iterator[Item]:
    how, hint = chosen[position]
    if how == BEFORE:
        yield Item(position, ACCESS, hints=following.get(position, (Hint(ANYBODY, 0),)))
    elif how != AFTER and hint is not None and position in following:
        left = how.to_bytes(8, "little")
        yield Item(position, BETWEEN, hint.code, hint.offset, left, hints=following[position])
