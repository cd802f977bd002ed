"""Two stages: two values that belong together are changed under two locks, one after the other.

From: twostage_bad, SCTBench (CS).
Needs: the reader reads both between the writer's two stages.
"""

import threading
from collections.abc import Callable


class Stages:
    def __init__(self) -> None:
        self.first_lock = threading.Lock()
        self.second_lock = threading.Lock()
        self.first = 0
        self.second = 0
        self.seen = (0, 1)

    def write_apart(self) -> None:
        with self.first_lock:
            self.first = 1
        with self.second_lock:
            self.second = 2

    def write_together(self) -> None:
        with self.first_lock, self.second_lock:
            self.first = 1
            self.second = 2

    def read(self) -> None:
        with self.first_lock:
            first = self.first
            if first == 0:
                return
            with self.second_lock:
                self.seen = (first, self.second)


def run(stages: Stages, write: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (write, stages.read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = stages.seen
    assert second == first + 1


def buggy() -> None:
    stages = Stages()
    run(stages, stages.write_apart)


def safe() -> None:
    stages = Stages()
    run(stages, stages.write_together)
