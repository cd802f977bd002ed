"""Lock order: two threads take two locks in opposite order.

From: deadlock01_bad, SCTBench (CS).
Needs: each thread has its first lock before either has its second.
"""

import threading


class Pair:
    def __init__(self) -> None:
        self.left = threading.Lock()
        self.right = threading.Lock()
        self.count = 0

    def left_first(self) -> None:
        with self.left, self.right:
            self.count += 1

    def right_first(self) -> None:
        with self.right, self.left:
            self.count += 1


def buggy() -> None:
    pair = Pair()
    threads = [threading.Thread(target=target) for target in (pair.left_first, pair.right_first)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pair.count == 2


def safe() -> None:
    pair = Pair()
    threads = [threading.Thread(target=target) for target in (pair.left_first, pair.left_first)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pair.count == 2
