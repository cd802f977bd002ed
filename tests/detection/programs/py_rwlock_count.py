"""Readers miscounted: a reader leaves without the lock, and its decrement is lost.

From: hand-made reader-writer locks.
Needs: both readers read the count before either writes it. The writer then waits for ever.
"""

import threading
from collections.abc import Callable


class ReadWriteLock:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.readers = 0
        self.written = False

    def enter(self) -> None:
        with self.changed:
            self.readers += 1

    def read_leaving_unlocked(self) -> None:
        self.enter()
        self.readers -= 1
        with self.changed:
            self.changed.notify_all()

    def read(self) -> None:
        self.enter()
        with self.changed:
            self.readers -= 1
            self.changed.notify_all()

    def write(self) -> None:
        with self.changed:
            while self.readers:
                self.changed.wait()
            self.written = True


def run(lock: ReadWriteLock, read: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (read, read, lock.write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lock.written


def buggy() -> None:
    lock = ReadWriteLock()
    run(lock, lock.read_leaving_unlocked)


def safe() -> None:
    lock = ReadWriteLock()
    run(lock, lock.read)
