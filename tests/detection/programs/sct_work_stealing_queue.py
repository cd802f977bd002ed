"""Look, then claim: the owner looks at the head first, and claims its item by the tail afterwards.

From: Work Stealing Queue, SCTBench (CHESS); the protocol of Cilk, with a lock for the thief.
Needs: the thief takes the item completely between the owner's look and the owner's claim.
"""

import threading


class Tasks:
    def __init__(self, claims_first: bool) -> None:
        self.claims_first = claims_first
        self.lock = threading.Lock()
        self.items = ["a", "b"]
        self.head = 0
        self.tail = 2

    def pop_look_first(self) -> str | None:
        tail = self.tail - 1
        if self.head > tail:
            return None
        self.tail = tail
        return self.items[tail]

    def pop_claim_first(self) -> str | None:
        tail = self.tail - 1
        self.tail = tail
        if self.head <= tail:
            return self.items[tail]
        self.tail = tail + 1
        with self.lock:
            if self.head > tail:
                return None
            self.tail = tail
            return self.items[tail]

    def pop(self) -> str | None:
        return self.pop_claim_first() if self.claims_first else self.pop_look_first()

    def steal(self) -> str | None:
        with self.lock:
            head = self.head
            self.head = head + 1
            if head < self.tail:
                return self.items[head]
            self.head = head
            return None


def run(tasks: Tasks) -> None:
    got: list[str | None] = []

    def own() -> None:
        got.append(tasks.pop())
        got.append(tasks.pop())

    def steal() -> None:
        got.append(tasks.steal())

    threads = [threading.Thread(target=target) for target in (own, steal)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got.append(tasks.pop())
    assert sorted(item for item in got if item is not None) == ["a", "b"]


def buggy() -> None:
    run(Tasks(claims_first=False))


def safe() -> None:
    run(Tasks(claims_first=True))
