"""Wrong lock: two threads guard the same number, one with another lock than the other two.

From: wronglock_3_bad, SCTBench (CS).
Needs: an increment under the wrong lock falls between the read and the write of another one.
"""

import threading


class Counter:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.other_lock = threading.Lock()
        self.count = 0

    def add(self) -> None:
        with self.lock:
            self.count += 1

    def add_wrongly(self) -> None:
        with self.other_lock:
            self.count += 1


def buggy() -> None:
    counter = Counter()
    targets = (counter.add, counter.add_wrongly, counter.add)
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.count == 3


def safe() -> None:
    counter = Counter()
    threads = [threading.Thread(target=counter.add) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.count == 3
