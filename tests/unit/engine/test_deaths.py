"""What dies in a collection is let go of before it, so that the collection finds it."""

from __future__ import annotations

from reenact.engine.deaths import released
from reenact.recordings.lanes import (
    ACCESS,
    COLLECT,
    DIED,
    OPERATION,
    RELEASED,
    SWEEP,
    SWEPT,
    Hint,
    Item,
)

HINTS = (Hint(2, 7),)


def test_before_a_collection_that_happened_by_itself() -> None:
    lane = [
        Item(3, OPERATION, 1, 8),
        Item(5, COLLECT, 0, after=((1, 4),), hints=HINTS),
        Item(6, SWEPT, 0, 11),
        Item(7, DIED, 0, 12),
        Item(8, SWEPT, 1, 13, after=((1, 9),)),
    ]
    first, *freed, collection, swept, died, last = released(lane)
    assert (first, swept, died, last) == (lane[0], lane[2], lane[3], lane[4])
    assert {(each.kind, each.first, each.second) for each in freed} == {
        (RELEASED, 0, 11),
        (RELEASED, 1, 13),
    }
    assert (collection.kind, collection.first) == (COLLECT, 0)
    assert {each.position for each in (*freed, collection)} == {5}
    ordered = [each for each in (*freed, collection) if each.after or each.hints]
    assert ordered == [freed[0]] and freed[0].after == ((1, 4),) and freed[0].hints == HINTS


def test_before_one_that_was_asked_for() -> None:
    """It is a call like any other: all that the schedule has is what is let go of."""
    lane = [Item(5, SWEEP, after=((1, 4),)), Item(6, SWEPT, 0, 11)]
    freed, access, swept = released(lane)
    assert (freed.position, freed.kind, freed.second, freed.after) == (5, RELEASED, 11, ((1, 4),))
    assert (access.position, access.kind, access.after) == (5, ACCESS, ())
    assert swept == lane[1]


def test_each_collection_has_its_own() -> None:
    lane = [Item(1, COLLECT), Item(2, SWEPT, 0, 1), Item(3, COLLECT), Item(4, SWEPT, 0, 2)]
    kinds = [(each.position, each.kind, each.second) for each in released(lane)]
    assert kinds == [
        (1, RELEASED, 1),
        (1, COLLECT, 0),
        (2, SWEPT, 1),
        (3, RELEASED, 2),
        (3, COLLECT, 0),
        (4, SWEPT, 2),
    ]


def test_nothing_else_changes() -> None:
    lane = [Item(1, OPERATION, 1, 8), Item(2, COLLECT, 1, after=((1, 2),)), Item(3, DIED, 0, 5)]
    assert released(lane) == lane
