"""Look outside, wait inside: a thread decides to wait before it holds the lock of the condition.

From: sync01_bad, SCTBench (CS).
Needs: the other thread sets and notifies between the look and the wait. Lost wake-up.
"""

import threading
from collections.abc import Callable


class Slot:
    def __init__(self) -> None:
        self.filled = threading.Condition()
        self.item: int | None = None

    def fill(self) -> None:
        with self.filled:
            self.item = 7
            self.filled.notify()

    def get_looking_outside(self) -> None:
        if self.item is None:
            with self.filled:
                self.filled.wait()

    def get_looking_inside(self) -> None:
        with self.filled:
            while self.item is None:
                self.filled.wait()


def run(slot: Slot, get: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (get, slot.fill)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slot.item == 7


def buggy() -> None:
    slot = Slot()
    run(slot, slot.get_looking_outside)


def safe() -> None:
    slot = Slot()
    run(slot, slot.get_looking_inside)
