"""One order of all threads: it keeps what came before what, and there is none of a ring."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.engine.linear import Linear, Unordered
from reenact.recordings.lanes import GONE, OPERATION, Item

Lanes = dict[int, list[Item]]
NOTHING: frozenset[int] = frozenset()


class Told:
    """Who did what, in the order that was found."""

    def __init__(self) -> None:
        self.done: list[tuple[int, Item]] = []
        self.runs = [0]  # who ran, one after the other
        self.steps = [0]

    def switch(self, step: int, kind: str, thread: int) -> None:
        self.steps.append(step)
        self.runs.append(thread)

    def happens(self, step: int, thread: int, item: Item) -> None:
        assert self.runs[-1] == thread
        self.steps.append(step)
        self.done.append((thread, item))

    def end(self, step: int, is_deadlock: bool) -> None:
        self.steps.append(step)


def linear(lanes: Lanes) -> Told:
    told = Told()
    steps = Linear(lanes, NOTHING, NOTHING, {}, False).run(told)
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
