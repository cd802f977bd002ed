"""Times of operations become hints at what came before."""

from __future__ import annotations

from reenact.engine import times
from reenact.recordings.lanes import OPERATION, WAIT, Hint, Item

OTHER = Hint(3, 1)
LANES = {
    0: [Item(1, OPERATION, time=10), Item(2, WAIT), Item(2, OPERATION, time=40)],
    1: [Item(4, OPERATION, time=20), Item(5, OPERATION, hints=(OTHER,), time=50)],
    2: [Item(8, OPERATION, time=21)],
}


def test_each_seems_to_come_after_the_one_before_it_in_another_thread() -> None:
    hints = {
        thread: [item.hints for item in items] for thread, items in times.hinted(LANES).items()
    }
    assert hints == {
        0: [(), (), (Hint(2, 8),)],
        1: [(Hint(0, 1),), (OTHER, Hint(0, 2))],
        2: [(Hint(1, 4),)],
    }


def test_a_thread_does_not_wait_for_itself() -> None:
    lanes = {0: [Item(1, OPERATION, time=1), Item(2, OPERATION, time=2)]}
    assert times.hinted(lanes) == lanes


def test_whether_there_are_any() -> None:
    assert times.are_told(LANES)
    assert not times.are_told({0: [Item(1, OPERATION)], 1: []})
