"""Non-atomic operation: the manager copies the list of returned blocks, then clears it.

From: Manager, IBM Concurrency Testing Repository.
Needs: a worker returns a block between the manager's copy and the manager's clear.
"""

import threading
from collections.abc import Callable


class Manager:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.returned: list[int] = []
        self.reclaimed: list[int] = []

    def give_back(self, block: int) -> None:
        with self.lock:
            self.returned.append(block)

    def reclaim(self) -> None:
        batch = list(self.returned)
        self.returned.clear()
        self.reclaimed.extend(batch)

    def reclaim_locked(self) -> None:
        with self.lock:
            self.reclaim()


def run(manager: Manager, reclaim: Callable[[], None]) -> None:
    def work() -> None:
        manager.give_back(1)
        manager.give_back(2)

    threads = [threading.Thread(target=work), threading.Thread(target=reclaim)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    reclaim()
    assert manager.reclaimed == [1, 2]


def buggy() -> None:
    manager = Manager()
    run(manager, manager.reclaim)


def safe() -> None:
    manager = Manager()
    run(manager, manager.reclaim_locked)
