"""Notify only on the change from empty: one of two sleeping readers is never woken.

From: the pattern of sync02_bad, SCTBench (CS).
Needs: both readers sleep, and both items are put before the woken reader takes the first.
"""

import threading


class Buffer:
    def __init__(self, only_from_empty: bool) -> None:
        self.changed = threading.Condition()
        self.only_from_empty = only_from_empty
        self.items: list[int] = []

    def put(self, item: int) -> None:
        with self.changed:
            self.items.append(item)
            if len(self.items) == 1 or not self.only_from_empty:
                self.changed.notify()

    def get(self) -> int:
        with self.changed:
            while not self.items:
                self.changed.wait()
            return self.items.pop()


def run(buffer: Buffer) -> None:
    got: list[int] = []

    def read() -> None:
        got.append(buffer.get())

    def write() -> None:
        buffer.put(1)
        buffer.put(2)

    threads = [threading.Thread(target=target) for target in (write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [1, 2]


def buggy() -> None:
    run(Buffer(only_from_empty=True))


def safe() -> None:
    run(Buffer(only_from_empty=False))
