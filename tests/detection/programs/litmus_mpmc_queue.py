"""Missing check: a consumer takes a slot that is reserved but not written yet.

From: mpmc-queue, the litmus programs of CDSchecker and tsan11rec.
Needs: the consumer runs between a producer's reservation of a slot and its write.
"""

import threading


class Queue:
    def __init__(self, checks_slot: bool) -> None:
        self.checks_slot = checks_slot
        self.lock = threading.Lock()
        self.slots = [0, 0, 0]
        self.reserved = 0
        self.taken = 0

    def put(self, item: int) -> None:
        with self.lock:
            place = self.reserved
            self.reserved = place + 1
        self.slots[place] = item

    def get(self) -> int | None:
        place = self.taken
        if place == self.reserved:
            return None
        if self.checks_slot and not self.slots[place]:
            return None
        with self.lock:
            if self.taken != place:
                return None
            self.taken = place + 1
        return self.slots[place]


def run(queue: Queue) -> None:
    got: list[int] = []

    def consume() -> None:
        item = queue.get()
        if item is not None:
            got.append(item)

    threads = [
        threading.Thread(target=queue.put, args=(1,)),
        threading.Thread(target=queue.put, args=(2,)),
        threading.Thread(target=consume),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while (item := queue.get()) is not None:
        got.append(item)
    assert sorted(got) == [1, 2]


def buggy() -> None:
    run(Queue(checks_slot=False))


def safe() -> None:
    run(Queue(checks_slot=True))
