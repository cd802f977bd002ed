"""Index moved too early: the writer of a ring buffer moves the index, then stores the item.

From: circular_buffer_bad, SCTBench (CS); one writer, one reader, no lock.
Needs: the reader runs between the two steps of the writer.
"""

import threading
from collections.abc import Callable


class Ring:
    def __init__(self) -> None:
        self.slots = [0, 0, 0]
        self.written = 0
        self.read = 0

    def put_index_first(self, item: int) -> None:
        place = self.written
        self.written = place + 1
        self.slots[place % 3] = item

    def put(self, item: int) -> None:
        place = self.written
        self.slots[place % 3] = item
        self.written = place + 1

    def get(self) -> int | None:
        place = self.read
        if place == self.written:
            return None
        self.read = place + 1
        return self.slots[place % 3]


def run(ring: Ring, put: Callable[[int], None]) -> None:
    got: list[int | None] = []

    def write() -> None:
        put(1)
        put(2)

    def read() -> None:
        got.append(ring.get())
        got.append(ring.get())

    threads = [threading.Thread(target=target) for target in (write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got.extend((ring.get(), ring.get()))
    assert [item for item in got if item is not None] == [1, 2]


def buggy() -> None:
    ring = Ring()
    run(ring, ring.put_index_first)


def safe() -> None:
    ring = Ring()
    run(ring, ring.put)
