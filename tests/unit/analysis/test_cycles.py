"""Cycles of locks: by hand, and against a search that tries every row of edges."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.analysis.cycles import Edge, Life, Moment, Order, find

STARTED: list[Life] = [("start", 0, 1), ("start", 0, 2), ("start", 0, 3)]


def edge(
    source: int, target: int, *threads: int, guards: tuple[int, ...] = (), places: object = None
) -> Edge:
    """By threads that were all started before any of it, and never joined."""
    return Edge(
        source,
        target,
        frozenset((source, *guards)),
        tuple((thread, thread) for thread in threads),
        (source, target) if places is None else places,
    )


def locks_of(edges: list[Edge], lives: list[Life] = STARTED) -> set[tuple[int, ...]]:
    found = find(edges, lives)
    assert found.is_complete
    return {tuple(step.edge.source for step in cycle) for cycle in found.cycles}


# ---- by hand ----


def test_two_threads_in_opposite_order() -> None:
    assert locks_of([edge(1, 2, 1), edge(2, 1, 2)]) == {(1, 2)}


def test_the_steps_say_who_and_what() -> None:
    (cycle,) = find([edge(1, 2, 1), edge(2, 1, 2)], STARTED).cycles
    assert [(step.edge.source, step.edge.target, step.thread) for step in cycle] == [
        (1, 2, 1),
        (2, 1, 2),
    ]


def test_the_same_order_is_no_cycle() -> None:
    assert locks_of([edge(1, 2, 1), edge(1, 2, 2), edge(2, 3, 1), edge(1, 3, 2)]) == set()


def test_one_thread_alone_is_no_cycle() -> None:
    assert locks_of([edge(1, 2, 1), edge(2, 1, 1)]) == set()


def test_another_thread_in_the_same_order_as_well_makes_it_one() -> None:
    assert locks_of([edge(1, 2, 1, 2), edge(2, 1, 1)]) == {(1, 2)}


def test_a_common_lock_guards() -> None:
    assert locks_of([edge(1, 2, 1, guards=(9,)), edge(2, 1, 2, guards=(9,))]) == set()


def test_a_lock_of_one_side_alone_does_not_guard() -> None:
    assert locks_of([edge(1, 2, 1, guards=(9,)), edge(2, 1, 2)]) == {(1, 2)}


def test_three_locks() -> None:
    assert locks_of([edge(1, 2, 1), edge(2, 3, 2), edge(3, 1, 3)]) == {(1, 2, 3)}


def test_three_locks_need_three_threads() -> None:
    assert locks_of([edge(1, 2, 1), edge(2, 3, 2), edge(3, 1, 2)]) == set()


def test_a_lock_common_to_two_of_three_guards() -> None:
    edges = [edge(1, 2, 1, guards=(9,)), edge(2, 3, 2, guards=(9,)), edge(3, 1, 3)]
    assert locks_of(edges) == set()


def test_a_thread_that_is_joined_before_the_other_starts() -> None:
    lives: list[Life] = [("start", 0, 1), ("join", 0, 1), ("start", 0, 2)]
    one = Edge(1, 2, frozenset({1}), ((1, 1),), "one")
    other = Edge(2, 1, frozenset({2}), ((2, 3),), "other")
    assert locks_of([one, other], lives) == set()
    del lives[1]
    assert locks_of([one, Edge(2, 1, frozenset({2}), ((2, 2),), "other")], lives) == {(1, 2)}


def test_before_the_start_and_after_the_join() -> None:
    lives: list[Life] = [("start", 0, 1), ("join", 0, 1)]
    of_thread = Edge(2, 1, frozenset({2}), ((1, 1),), "other")

    def main_at(life: int) -> Edge:
        return Edge(1, 2, frozenset({1}), ((0, life),), "main")

    assert locks_of([main_at(0), of_thread], lives) == set()
    assert locks_of([main_at(1), of_thread], lives) == {(1, 2)}
    assert locks_of([main_at(2), of_thread], lives) == set()
    assert locks_of([main_at(0), main_at(2), main_at(1), of_thread], lives) == {(1, 2)}


def test_a_join_is_passed_on_by_a_third_thread() -> None:
    lives: list[Life] = [("start", 0, 1), ("start", 0, 2), ("join", 2, 1), ("start", 2, 3)]
    order = Order(lives)
    assert order.is_before((1, 1), (3, 4))
    assert not order.is_before((1, 1), (2, 2))
    assert not order.can_overlap((3, 4), (1, 1))
    assert order.can_overlap((1, 1), (0, 2))


def test_the_same_places_are_told_once() -> None:
    """A function that takes the locks of two accounts, called with many pairs of accounts."""
    accounts = range(1, 8)
    edges = [
        edge(one, other, 1, 2, places="transfer")
        for one in accounts
        for other in accounts
        if one != other
    ]
    found = find(edges, STARTED)
    assert (len(found.cycles), found.is_complete) == (1, True)
    assert len(found.cycles[0]) == 2


def test_another_place_in_a_cycle_with_a_known_one_is_told() -> None:
    edges = [edge(1, 2, 1, places="a"), edge(2, 1, 2, places="a"), edge(2, 1, 3, places="b")]
    told = {tuple(sorted(str(step.edge.places) for step in c)) for c in find(edges, STARTED).cycles}
    assert told == {("a", "a"), ("a", "b")}


def test_moments_that_are_not_known_make_it_undecided() -> None:
    lives: list[Life] = [("start", 0, 1), ("join", 0, 1)]
    one = Edge(1, 2, frozenset({1}), ((0, 0),), "main", left_out=3)
    found = find([one, Edge(2, 1, frozenset({2}), ((1, 1),), "other")], lives)
    assert (found.cycles, found.is_complete) == ((), False)
    in_order = Edge(1, 2, frozenset({1}), ((1, 1),), "other")
    assert find([one, in_order], lives).is_complete


def test_too_much_work_is_said() -> None:
    edges = [edge(one, other, 1) for one in range(9) for other in range(9) if one != other]
    assert not find(edges, STARTED, most_work=50).is_complete


@pytest.mark.parametrize("length", [2, 5, 40])
def test_long_cycles(length: int) -> None:
    lives: list[Life] = [("start", 0, thread + 1) for thread in range(length)]
    ring = [edge(lock, (lock + 1) % length, lock + 1) for lock in range(length)]
    assert locks_of(ring, lives) == {tuple(range(length))}
    assert locks_of(ring[:-1], lives) == set()


# ---- against every row of edges ----


class History:
    """Starts and joins that threads could have made, with the moments in which edges were met."""

    def __init__(self) -> None:
        self.lives: list[Life] = []
        self.life = {0: 0}  # of threads that run
        self.ended: set[int] = set()
        self.after: dict[Moment, set[Moment]] = {}  # what directly follows, for `is_before`

    def start(self, parent: int) -> None:
        child = len(self.life) + len(self.ended)
        before = parent, self.life[parent]
        self.lives.append(("start", parent, child))
        self.life[parent] = self.life[child] = len(self.lives)
        self.after.setdefault(before, set()).update(
            {(parent, len(self.lives)), (child, len(self.lives))}
        )

    def join(self, doer: int, other: int) -> None:
        before = [(doer, self.life[doer]), (other, self.life.pop(other))]
        self.ended.add(other)
        self.lives.append(("join", doer, other))
        self.life[doer] = len(self.lives)
        for moment in before:
            self.after.setdefault(moment, set()).add((doer, len(self.lives)))

    def is_before(self, one: Moment, other: Moment) -> bool:
        following = self.after.get(one, set())
        return other in following or any(self.is_before(each, other) for each in following)


@st.composite
def histories(draw: st.DrawFn) -> tuple[History, list[Edge]]:
    history = History()
    edges: dict[tuple[int, int, frozenset[int]], list[Moment]] = {}
    for _ in range(draw(st.integers(1, 14))):
        action = draw(st.sampled_from(["start", "join", "edge", "edge"]))
        thread = draw(st.sampled_from(sorted(history.life)))
        others = sorted(history.life.keys() - {0, thread})
        if action == "start" and len(history.life) + len(history.ended) < 5:
            history.start(thread)
        elif action == "join" and others:
            history.join(thread, draw(st.sampled_from(others)))
        elif action == "edge":
            source, target = draw(st.permutations(range(4)))[:2]
            guard = draw(st.sampled_from([(), (), (7,), (8,)]))
            key = source, target, frozenset((source, *guard))
            edges.setdefault(key, []).append((thread, history.life[thread]))
    numbered = enumerate(edges.items())
    return history, [
        Edge(source, target, guards, tuple(moments), number)
        for number, ((source, target, guards), moments) in numbered
    ]


def brute_force(history: History, edges: list[Edge]) -> set[tuple[object, ...]]:
    """Every row of different edges, with every moment of each: is it a cycle that could be?"""
    steps = [(each, moment) for each in edges for moment in each.moments]
    found = set()
    for length in range(2, 5):
        for row in permutations(steps, length):
            if could_be(history, row):
                found.add(tuple(each.places for each, _ in row))
    return {row for row in found if row[0] == min(row, key=lambda places: source_of(edges, places))}


def source_of(edges: list[Edge], places: object) -> int:
    return next(each.source for each in edges if each.places == places)


def could_be(history: History, row: tuple[tuple[Edge, Moment], ...]) -> bool:
    following = (*row[1:], row[0])
    if any(one.target != other.source for (one, _), (other, _) in zip(row, following, strict=True)):
        return False
    for number, (one, moment) in enumerate(row):
        for other, other_moment in row[:number]:
            if (
                one.guards & other.guards
                or moment[0] == other_moment[0]
                or history.is_before(moment, other_moment)
                or history.is_before(other_moment, moment)
            ):
                return False
    return True


@settings(max_examples=400, deadline=None)
@given(histories())
def test_the_same_as_brute_force(made: tuple[History, list[Edge]]) -> None:
    history, edges = made
    found = find(edges, history.lives)
    assert found.is_complete
    rows = {tuple(step.edge.places for step in cycle) for cycle in found.cycles}
    assert rows == brute_force(history, edges)
    for cycle in found.cycles:
        threads = [step.thread for step in cycle]
        assert len(set(threads)) == len(threads)


@settings(max_examples=200, deadline=None)
@given(histories())
def test_the_same_order_of_moments(made: tuple[History, list[Edge]]) -> None:
    history, edges = made
    moments = {moment for each in edges for moment in each.moments}
    order = Order(history.lives)
    for one in moments:
        for other in moments:
            assert order.is_before(one, other) == history.is_before(one, other)
