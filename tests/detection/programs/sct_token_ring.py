"""Order taken for granted: each member passes on what its neighbour has, token or not.

From: token_ring_bad, SCTBench (CS). Every step is locked; only the order is wrong.
Needs: a member runs before the one that it takes the token from.
"""

import threading


class Ring:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values = [5, 0, 0, 0]
        self.passed = [threading.Event() for _ in range(4)]
        self.passed[0].set()

    def pass_on(self, member: int) -> None:
        with self.lock:
            self.values[member] = self.values[member - 1] + 1
        self.passed[member].set()

    def pass_on_in_turn(self, member: int) -> None:
        self.passed[member - 1].wait()
        self.pass_on(member)


def buggy() -> None:
    ring = Ring()
    threads = [threading.Thread(target=ring.pass_on, args=(member,)) for member in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ring.values == [5, 6, 7, 8]


def safe() -> None:
    ring = Ring()
    threads = [
        threading.Thread(target=ring.pass_on_in_turn, args=(member,)) for member in (1, 2, 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ring.values == [5, 6, 7, 8]
