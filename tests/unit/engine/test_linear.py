"""One order of all threads: it keeps what came before what, and there is none of a ring."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.engine.linear import Linear, Unordered
from reenact.engine.ways import AFTER, BEFORE, Way
from reenact.recordings.lanes import GONE, OPERATION, Hint, Item

Lanes = dict[int, list[Item]]
After = tuple[tuple[int, int | None], ...]
NOTHING: frozenset[int] = frozenset()


class Told:
    """Who did what, in the order that was found."""

    def __init__(self) -> None:
        self.done: list[tuple[int, Item]] = []
        self.runs = [0]  # who ran, one after the other
        self.steps = [0]
        self.stops: list[tuple[int, int, int, int]] = []  # thread, position and place

    def switch(self, step: int, kind: str, thread: int) -> None:
        self.steps.append(step)
        self.runs.append(thread)

    def between(self, step: int, thread: int, item: Item) -> None:
        self.stops.append((self.runs[-1], item.position, item.first, item.second))
        self.switch(step, "between", thread)

    def happens(self, step: int, thread: int, item: Item) -> None:
        assert self.runs[-1] == thread
        self.steps.append(step)
        self.done.append((thread, item))

    def end(self, step: int, is_deadlock: bool) -> None:
        self.steps.append(step)


def linear(lanes: Lanes, way: Way | None = None) -> Told:
    told = Told()
    steps = Linear(lanes, NOTHING, NOTHING, {}, False, way=way).run(told)
    assert told.steps == sorted(told.steps)
    assert told.steps[-1] == steps
    return told


def simulated(seed: int) -> Lanes:
    """Lanes of a run that there was: what an item comes after was done before it."""
    chance = Random(seed)
    lanes: Lanes = {thread: [] for thread in range(chance.randint(1, 5))}
    position = dict.fromkeys(lanes, 0)
    for number in range(chance.randint(1, 60)):
        thread = chance.choice(list(lanes))
        position[thread] += chance.choice((1, 1, 1, 7))
        others = [other for other in lanes if other != thread and lanes[other]]
        chosen = chance.sample(others, chance.randint(0, len(others)))
        after = tuple((other, chance.choice(lanes[other]).position) for other in chosen)
        lanes[thread].append(Item(position[thread], OPERATION, 1, number << 1, after=after))
    return {thread: items for thread, items in lanes.items() if items or thread == 0}


def check(lanes: Lanes, told: Told) -> None:
    assert sorted(number for _, (_, _, _, number, *_) in told.done) == sorted(
        item.second for items in lanes.values() for item in items
    )
    reached = dict.fromkeys(lanes, -1)
    for thread, item in told.done:
        assert item.position >= reached[thread]
        for other, position in item.after:
            left = [each for each in lanes[other] if each.position > reached[other]]
            assert not left or (position is not None and left[0].position > position)
        reached[thread] = item.position


@given(st.integers(0, 1 << 32))
@settings(max_examples=200, deadline=None)
def test_an_order_is_found_in_which_all_edges_hold(seed: int) -> None:
    lanes = simulated(seed)
    check(lanes, linear(lanes))


@given(st.integers(0, 1 << 32))
@settings(max_examples=200, deadline=None)
def test_whatever_the_edges_are_there_is_an_order_or_an_error(seed: int) -> None:
    chance = Random(seed)
    lanes = simulated(seed)
    threads = list(lanes)
    for items in lanes.values():
        for at, item in enumerate(items):
            if chance.random() < 0.1:
                edge = (chance.choice(threads), chance.choice((0, 1, 5, 20, None)))
                items[at] = item._replace(after=(*item.after, edge))
    try:
        told = linear(lanes)
    except Unordered:
        return
    check(lanes, told)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_ring_is_no_order(size: int) -> None:
    lanes = {
        thread: [Item(1, OPERATION, 1, thread << 1, after=(((thread + 1) % size, 1),))]
        for thread in range(size)
    }
    with pytest.raises(Unordered, match="ring"):
        linear(lanes)


def test_nobody_comes_after_who_did_nothing() -> None:
    with pytest.raises(Unordered, match="thread 7 did nothing"):
        linear({0: [Item(1, OPERATION, 1, 0, after=((7, 3),))]})


def test_the_end_of_a_thread_is_after_all_it_did() -> None:
    assert GONE  # is read as an edge to no position
    lanes = {
        0: [Item(1, OPERATION, 1, 2, after=((1, None),))],
        1: [Item(1, OPERATION, 1, 4), Item(9, OPERATION, 1, 6)],
    }
    assert [item.second for _, item in linear(lanes).done] == [4, 6, 2]


def test_who_was_killed_past_a_point_stays_before_it() -> None:
    """What comes at the point is not known to have happened."""
    lanes: Lanes = {0: [Item(2, OPERATION, 1, 2)], 1: [Item(1, OPERATION, 1, 4)]}
    finals = {0: 5, 1: 1}
    assert Linear(lanes, NOTHING, NOTHING, finals, False, is_cut=True).run(Told()) == 5 + 2
    assert Linear(lanes, NOTHING, NOTHING, finals, False).run(Told()) == 6 + 2


def operation(position: int, number: int, *hints: Hint, after: After = ()) -> Item:
    return Item(position, OPERATION, 1, number << 1, after=after, hints=hints)


def numbers(told: Told) -> list[int]:
    return [item.second >> 1 for _, item in told.done]


def test_hints_are_gone_by() -> None:
    lanes = {
        0: [operation(1, 1), operation(5, 4, Hint(1, 3))],
        1: [operation(2, 2, Hint(0, 4)), operation(3, 3)],
    }
    assert numbers(linear(lanes)) == [1, 2, 3, 4]


def test_a_hint_that_contradicts_what_is_known_is_passed_over() -> None:
    lanes = {
        0: [operation(1, 1, Hint(1, 2))],
        1: [operation(2, 2, after=((0, 1),))],
    }
    assert numbers(linear(lanes)) == [1, 2]


PLACED = {
    0: [operation(1, 1), operation(4, 2), operation(5, 4, Hint(1, 3))],
    1: [operation(3, 3, Hint(0, 4, code=7, offset=20))],
}


def test_a_thread_is_stopped_between_two_points() -> None:
    told = linear(PLACED)
    assert numbers(told) == [1, 2, 3, 4]
    assert told.stops == [(0, 4, 7, 20)]


def test_other_ways() -> None:
    at_the_next_point = linear(PLACED, Way({(0, 4): AFTER}))
    assert numbers(at_the_next_point) == [1, 2, 3, 4]
    assert at_the_next_point.stops == []
    before_the_point = linear(PLACED, Way({(0, 4): BEFORE}))
    assert numbers(before_the_point) == [1, 3, 2, 4]


def test_where_threads_were_left_is_told() -> None:
    way = Way()
    linear(PLACED, way)
    assert [(each.spot, each.is_between) for each in way.left] == [((0, 4), True)]


@settings(deadline=None)
@given(st.integers(0, 100_000))
def test_no_hint_makes_a_ring(seed: int) -> None:
    """However wrong they are, what is known is kept."""
    lanes = simulated(seed)
    chance = Random(seed)

    def hinted(item: Item) -> Item:
        other = chance.choice(list(lanes))
        return item._replace(hints=(Hint(other, chance.randint(0, 200)),))

    misled = {thread: [hinted(item) for item in items] for thread, items in lanes.items()}
    told = linear(misled)
    assert len(told.done) == sum(map(len, lanes.values()))
    done: dict[int, int] = {}
    for thread, item in told.done:
        for other, position in item.after:
            assert position is None or done.get(other, -1) >= position
        done[thread] = item.position
