"""The reference detector by hand-made streams of events, and against an even simpler one."""

from __future__ import annotations

from itertools import combinations_with_replacement
from random import Random

import pytest

from tests.races.oracle import (
    Access,
    Acquire,
    Event,
    Join,
    Mode,
    Release,
    Start,
    conflict,
    races,
    racy,
)

BOX = ("box", "value")


def write(thread: int, what: str = "value", line: int = 0) -> Access:
    return Access(thread, "box", what, Mode.WRITE, line)


def read(thread: int, what: str = "value", line: int = 0) -> Access:
    return Access(thread, "box", what, Mode.READ, line)


def both_started(*events: Event) -> list[Event]:
    return [Start(0, 1), Start(0, 2), *events]


# ---- what orders ----


@pytest.mark.parametrize(
    "events",
    [
        [write(1), read(1), write(1)],
        [write(0), Start(0, 1), read(1)],
        [Start(0, 1), write(1), Join(0, 1), read(0)],
        [write(0), Start(0, 1), Start(1, 2), write(2), Join(1, 2), Join(0, 1), write(0)],
        both_started(write(1), Release(1, "lock"), Acquire(2, "lock"), write(2)),
        both_started(
            Acquire(1, "lock"),
            write(1),
            Release(1, "lock"),
            Acquire(2, "lock"),
            write(2),
            Release(2, "lock"),
            Acquire(1, "lock"),
            read(1),
        ),
        both_started(write(1), Release(1, "lock"), Release(0, "lock"), Acquire(2, "lock"), read(2)),
        both_started(
            write(1), Release(1, "a"), Acquire(0, "a"), Release(0, "b"), Acquire(2, "b"), write(2)
        ),
    ],
    ids=[
        "one thread",
        "start",
        "join",
        "nested starts and joins",
        "release and acquire",
        "a lock back and forth",
        "two releases before it is acquired",
        "by way of a third",
    ],
)
def test_what_is_ordered_does_not_race(events: list[Event]) -> None:
    assert races(events) == []


@pytest.mark.parametrize(
    "events",
    [
        both_started(write(1), write(2)),
        both_started(write(1), read(2)),
        both_started(read(1), write(2)),
        [Start(0, 1), write(0), read(1)],
        [Start(0, 1), write(1), read(0), Join(0, 1)],
        both_started(Release(1, "lock"), write(1), Acquire(2, "lock"), write(2)),
        both_started(write(1), Release(1, "one"), Acquire(2, "other"), write(2)),
        both_started(Acquire(2, "lock"), write(1), Release(1, "lock"), write(2)),
        [Start(0, 1), Start(1, 2), write(2), Join(0, 1), read(0)],
    ],
    ids=[
        "two writes",
        "write and read",
        "read and write",
        "after the start",
        "before the join",
        "after the release",
        "another lock",
        "acquired before it was released",
        "a thread that nobody joined",
    ],
)
def test_what_nothing_orders_races(events: list[Event]) -> None:
    assert racy(events) == {BOX}


def test_reads_and_other_variables_do_not_race() -> None:
    assert racy(both_started(read(1), read(2), write(1, "left"), write(2, "right"))) == set()
    other = Access(2, "other box", "value", Mode.WRITE)
    assert racy(both_started(write(1), other)) == set()


def test_every_pair_is_told() -> None:
    found = races(
        both_started(read(1, line=1), write(1, line=2), read(2, line=3), write(2, line=4))
    )
    assert [(race.first.line, race.second.line) for race in found] == [(2, 3), (1, 4), (2, 4)]


def test_nothing_is_forgotten_by_a_later_write() -> None:
    """The second thread's write is ordered before the third's read; the first's is not."""
    found = races(
        [
            *(Start(0, 1), Start(0, 2), Start(0, 3)),
            *(write(1, line=1), write(2, line=2), Release(2, "lock")),
            *(Acquire(3, "lock"), read(3, line=3)),
        ]
    )
    assert [(race.first.line, race.second.line) for race in found] == [(1, 2), (1, 3)]


# ---- containers ----


def item(thread: int, mode: Mode, key: int | None = None) -> Access:
    return Access(thread, "container", key, mode)


AT_ONE_KEY = {
    frozenset(pair)
    for pair in [
        (Mode.WRITE, Mode.WRITE),
        (Mode.WRITE, Mode.READ),
        (Mode.ITEM_WRITE, Mode.ITEM_WRITE),
        (Mode.ITEM_WRITE, Mode.ITEM_READ),
        (Mode.ITEM_WRITE, Mode.ITEM_TEST),
        (Mode.ITEM_WRITE, Mode.ITEM_UPDATE),
        (Mode.ITEM_WRITE, Mode.ITEM_DEFAULT),
        (Mode.ITEM_UPDATE, Mode.ITEM_TEST),
    ]
}
ITEMS = (Mode.ITEM_READ, Mode.ITEM_TEST, Mode.ITEM_WRITE, Mode.ITEM_UPDATE, Mode.ITEM_DEFAULT)
STEPS = (Mode.UPDATE, Mode.PUT, Mode.TAKE)
WITH_THE_WHOLE = (
    {frozenset([Mode.WHOLE_WRITE, each]) for each in (*ITEMS, *STEPS)}
    | {frozenset([Mode.WHOLE_READ, each]) for each in (*ITEMS[2:], *STEPS)}
    | {frozenset([Mode.WHOLE_WRITE]), frozenset([Mode.WHOLE_WRITE, Mode.WHOLE_READ])}
)


@pytest.mark.parametrize("one, other", list(combinations_with_replacement(Mode, 2)))
def test_which_modes_conflict(one: Mode, other: Mode) -> None:
    pair = frozenset([one, other])
    first, same, another = item(1, one, 7), item(2, other, 7), item(2, other, 8)
    assert conflict(first, same) == conflict(same, first) == (pair in AT_ONE_KEY | WITH_THE_WHOLE)
    assert conflict(first, another) == conflict(another, first) == (pair in WITH_THE_WHOLE)


def test_the_item_is_raced_on_or_the_whole() -> None:
    assert racy(both_started(item(1, Mode.ITEM_WRITE, 7), item(2, Mode.ITEM_READ, 7))) == {
        ("container", 7)
    }
    assert racy(both_started(item(1, Mode.ITEM_WRITE, 7), item(2, Mode.WHOLE_READ))) == {
        ("container", None)
    }


def test_what_is_put_is_ordered_before_what_is_taken() -> None:
    put, take = item(1, Mode.PUT), item(2, Mode.TAKE)
    assert racy(both_started(write(1), put, take, read(2))) == set()
    assert racy(both_started(put, write(1), take, read(2))) == {BOX}
    assert racy(both_started(take, write(1), put, read(2))) == {BOX}
    assert racy(both_started(write(1), item(1, Mode.UPDATE), take, read(2))) == {BOX}


def test_what_came_before_a_put_does_not_race_with_the_take() -> None:
    look = item(1, Mode.WHOLE_READ)
    assert racy(both_started(look, item(1, Mode.PUT), item(2, Mode.TAKE))) == set()
    assert racy(both_started(item(1, Mode.PUT), look, item(2, Mode.TAKE))) == {("container", None)}


# ---- by a way that has no clocks ----


def paths(events: list[Event]) -> list[set[int]]:
    """For each event, all that happen before it: by its thread, by what it acquires, and so on."""
    before: list[set[int]] = []
    for at, event in enumerate(events):
        direct = {i for i in range(at) if is_direct(events[i], event)}
        before.append(direct.union(*(before[i] for i in direct)))
    return before


def is_direct(earlier: Event, later: Event) -> bool:
    match earlier, later:
        case Start(), _ if earlier.child == later.thread:
            return True
        case _, Join() if earlier.thread == later.child:
            return True
        case Release(), Acquire():
            return earlier.thread == later.thread or earlier.object == later.object
        case Access(mode=Mode.PUT), Access(mode=Mode.TAKE):
            return earlier.thread == later.thread or earlier.object == later.object
    return earlier.thread == later.thread


def random_events(random: Random) -> list[Event]:
    running, ended, unborn = [0], [], [1, 2, 3]
    events: list[Event] = []
    for _ in range(random.randint(4, 30)):
        thread = random.choice(running)
        object = random.choice("ab")
        choice = random.random()
        if choice < 0.15 and unborn:
            events.append(Start(thread, unborn[0]))
            running.append(unborn.pop(0))
        elif choice < 0.2 and thread != 0:
            running.remove(thread)
            ended.append(thread)
        elif choice < 0.3 and ended:
            events.append(Join(thread, random.choice(ended)))
        elif choice < 0.5:
            events.append(random.choice((Acquire, Release))(thread, object))
        else:
            key = random.choice((None, 1, 2))
            events.append(Access(thread, object, key, random.choice(list(Mode)), len(events)))
    return events


def test_the_clocks_agree_with_paths_through_the_events() -> None:
    count = 0
    for seed in range(400):
        events = random_events(Random(seed))
        before = paths(events)
        expected = {
            (i, k)
            for k, second in enumerate(events)
            for i, first in enumerate(events[:k])
            if isinstance(first, Access) and isinstance(second, Access)
            if i not in before[k] and conflict(first, second)
        }
        found = [(race.first.line, race.second.line) for race in races(events)]
        assert set(found) == expected, f"seed {seed}"
        assert len(found) == len(expected)
        count += len(found)
    assert count > 100
