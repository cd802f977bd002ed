"""Notify instead of notify_all: producers and consumers wait on one condition, one is woken.

From: Bounded Buffer, IBM Concurrency Testing Repository.
Needs: both consumers wait; the producer fills the buffer and waits as well before the woken
consumer runs; that consumer then wakes the other consumer instead of the producer. Deadlock.
"""

import threading


class Buffer:
    def __init__(self, wakes_all: bool) -> None:
        self.changed = threading.Condition()
        self.wakes_all = wakes_all
        self.items: list[int] = []

    def wake(self) -> None:
        if self.wakes_all:
            self.changed.notify_all()
        else:
            self.changed.notify()

    def put(self, item: int) -> None:
        with self.changed:
            while self.items:
                self.changed.wait()
            self.items.append(item)
            self.wake()

    def get(self) -> int:
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.pop()
            self.wake()
            return item


def run(buffer: Buffer) -> None:
    taken: list[int] = []

    def produce() -> None:
        buffer.put(1)
        buffer.put(2)

    def consume() -> None:
        taken.append(buffer.get())

    threads = [threading.Thread(target=target) for target in (produce, consume, consume)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [1, 2]


def buggy() -> None:
    run(Buffer(wakes_all=False))


def safe() -> None:
    run(Buffer(wakes_all=True))
