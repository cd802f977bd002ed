"""Orders for what Light's order leaves open: every read sees the write that it saw."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.engine.linear import Unordered
from reenact.engine.solve import order, solve
from reenact.errors import UsageError
from reenact.recordings.lanes import ACCESS, INITIAL, OPERATION, Interval, Item

from .flow import Access, Execution, Point, seen

KINDS = st.sampled_from(["read", "write", "update"])
ACCESSES = st.builds(Access, st.integers(0, 3), st.integers(0, 2), KINDS)
EXECUTIONS = st.builds(Execution, st.lists(ACCESSES, max_size=60))


def linearised(execution, needs, seed):
    """Some order of all accesses that the needs allow."""
    choose = random.Random(seed)
    lengths: dict[int, int] = {}
    for thread, position in execution.points():
        lengths[thread] = position
    after: dict[Point, list[Point]] = {}
    for thread, found in needs.items():
        for position, other, wanted, _ in found:
            after.setdefault((thread, position), []).append((other, wanted))
    done = dict.fromkeys(lengths, 0)
    schedule = []
    while enabled := [
        thread
        for thread, length in lengths.items()
        if done[thread] < length
        and all(done[o] >= w for o, w in after.get((thread, done[thread] + 1), ()))
    ]:
        thread = choose.choice(enabled)
        done[thread] += 1
        schedule.append((thread, done[thread]))
    assert done == lengths, "the threads do not come to their ends"
    return schedule


def check(execution, intervals, known, seed):
    accesses = dict(zip(execution.points(), execution.accesses, strict=True))
    needs = order(intervals, known)
    every = {thread: needs.get(thread, []) + known.get(thread, []) for thread in {*needs, *known}}
    schedule = linearised(execution, every, seed)
    assert seen(accesses, schedule) == seen(accesses, execution.points())


@given(EXECUTIONS, st.sampled_from([1, 2, 1024]), st.integers(0, 9))
@settings(max_examples=400, deadline=None)
def test_every_read_sees_its_write(execution, room, seed):
    check(execution, execution.record(room), {}, seed)


@given(EXECUTIONS, st.sampled_from([1, 1024]), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_with_hints_that_say_nothing(execution, room, choose):
    pytest.importorskip("z3")
    intervals = [each._replace(hint=choose.randrange(5)) for each in execution.record(room)]
    check(execution, intervals, {}, 0)


@given(EXECUTIONS, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_with_hints_that_say_nothing_and_synchronisation(execution, choose):
    pytest.importorskip("z3")
    intervals = [each._replace(hint=choose.randrange(5)) for each in execution.record()]
    points = execution.points()
    known: dict[int, list[tuple[int, int, int, int]]] = {}
    for _ in range(min(len(points), 10)):
        first, second = sorted(choose.sample(range(len(points)), 2)) if len(points) > 1 else (0, 0)
        (other, wanted), (thread, position) = points[first], points[second]
        if thread != other:
            known.setdefault(thread, []).append((position, other, wanted, 0))
    check(execution, intervals, known, 0)


@given(EXECUTIONS)
def test_the_first_read_of_a_write_by_each_thread_is_noted(execution):
    """One interval at most for each thread and write, besides those that write, and what the first
    thread did before a second came."""
    shared = set()
    readers = []
    for each in execution.record():
        if each.location in shared and each.write is None:
            readers.append((each.location, each.thread, each.source))
        shared.add(each.location)
    assert len(readers) == len(set(readers))


def test_what_one_thread_has_to_itself_leaves_nothing():
    accesses = [Access(0, 0, "write"), Access(0, 0, "read"), Access(1, 1, "update")]
    assert Execution(accesses * 9).record() == []


def misled():
    """Two locations that two threads wrote to and read, with hints the wrong way round in one."""
    return [
        Interval(0, 1, 1, 2, 1, None, 5),
        Interval(1, 1, 1, 2, 1, None, 1),
        Interval(0, 2, 3, 3, 3, None, 9),
        Interval(1, 2, 0, 0, None, INITIAL, 9),
        Interval(1, 2, 3, 3, None, INITIAL, 9),
    ]


def test_hints_that_contradict_synchronisation_are_not_followed():
    pytest.importorskip("z3")
    known = {1: [(1, 0, 2, 0)]}
    assert (1, 0, 2, 1) not in order(misled(), known).get(0, [])
    assert (1, 1, 2, 1) in order(misled(), {}).get(0, [])


def test_without_the_solver_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    assert order(misled(), {})
    with pytest.raises(UsageError, match=r"reenact\[light\]"):
        order(misled(), {1: [(1, 0, 2, 0)]})


def read_and_written_at_one_point(hint):
    """A site of thread 1 reads what thread 0 wrote, and writes at the same point."""
    return [
        Interval(0, 1, 1, 1, 1, None, 1),
        Interval(1, 1, 2, 4, None, (0, 1), 2),
        Interval(1, 1, 4, 5, 5, None, hint),
    ]


def test_a_read_and_a_write_at_one_point_are_in_the_order_of_the_program():
    assert order(read_and_written_at_one_point(hint=3), {}) == {1: [(2, 0, 1, 1)]}


def test_so_they_are_to_the_solver():
    pytest.importorskip("z3")
    needs = order(read_and_written_at_one_point(hint=0), {})
    assert needs == {1: [(2, 0, 1, 1)]}


def test_contradictions_are_damage():
    pytest.importorskip("z3")
    known = {1: [(1, 0, 2, 0)], 0: [(1, 1, 2, 0)]}
    with pytest.raises(Unordered):
        order(misled(), known)


@pytest.mark.parametrize(
    "intervals",
    [
        [Interval(0, 1, 1, 1, 1, None, 1), Interval(0, 1, 1, 1, 1, None, 2)],
        [Interval(0, 1, 1, 1, 1, INITIAL, 1), Interval(1, 1, 1, 1, 1, INITIAL, 2)],
        [Interval(0, 1, 1, 1, 1, (1, 1), 1), Interval(1, 1, 1, 1, 1, (0, 1), 2)],
    ],
    ids=["written twice", "two follow one", "each follows the other"],
)
def test_intervals_that_cannot_be(intervals):
    with pytest.raises(Unordered, match="location 1"):
        order(intervals, {})


def test_a_write_that_is_known_from_its_reads_alone_comes_before_them():
    needs = order([Interval(1, 1, 4, 7, None, (0, 3), 2)], {})
    assert needs == {1: [(4, 0, 3, 1)]}


def test_accesses_come_before_all_else_at_their_position():
    lanes = {0: [Item(1, OPERATION), Item(5, OPERATION)], 1: [Item(2, OPERATION)]}
    intervals = [Interval(0, 1, 5, 5, 5, None, 2), Interval(1, 1, 2, 9, 2, None, 1)]
    found = solve(lanes, [*intervals, Interval(1, 1, 11, 12, None, (0, 5), 3)])
    assert found[0] == [lanes[0][0], Item(5, ACCESS, after=((1, 9),)), lanes[0][1]]
    assert found[1] == [lanes[1][0], Item(11, ACCESS, after=((0, 5),))]
