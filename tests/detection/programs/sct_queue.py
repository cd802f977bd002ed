"""Look, then take: two readers of a queue see the same head.

From: queue_bad, SCTBench (CS).
Needs: both readers read the head's place before one of them has moved it.
"""

import threading
from collections.abc import Callable


class Queue:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.items = [10, 20, 30]
        self.head = 0

    def get(self) -> int:
        item = self.items[self.head]
        self.head += 1
        return item

    def get_locked(self) -> int:
        with self.lock:
            return self.get()


def run(get: Callable[[], int]) -> None:
    got: list[int] = []

    def read() -> None:
        got.append(get())

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got.append(get())
    assert sorted(got) == [10, 20, 30]


def buggy() -> None:
    run(Queue().get)


def safe() -> None:
    run(Queue().get_locked)
