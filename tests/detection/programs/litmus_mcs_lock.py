"""Missing wait: a holder that finds no successor yet, though there is one, just goes away.

From: mcs-lock, the litmus programs of CDSchecker and tsan11rec. Waiters wait for an event.
Needs: the second thread has put itself at the tail, but not yet behind the holder, as the
holder releases. The second thread then waits for ever.
"""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Atomic(Generic[T]):
    def __init__(self, value: T) -> None:
        self.lock = threading.Lock()
        self.value = value

    def swap(self, value: T) -> T:
        with self.lock:
            old, self.value = self.value, value
            return old

    def change(self, expected: T, value: T) -> bool:
        with self.lock:
            if self.value is not expected:
                return False
            self.value = value
            return True


class Node:
    def __init__(self) -> None:
        self.next: Node | None = None
        self.linked = threading.Event()
        self.go = threading.Event()


class Lock:
    def __init__(self, waits_for_link: bool) -> None:
        self.waits_for_link = waits_for_link
        self.tail: Atomic[Node | None] = Atomic(None)

    def acquire(self) -> Node:
        node = Node()
        before = self.tail.swap(node)
        if before is not None:
            before.next = node
            before.linked.set()
            node.go.wait()
        return node

    def release(self, node: Node) -> None:
        if node.next is None:
            if self.tail.change(node, None):
                return
            if not self.waits_for_link:
                return
            node.linked.wait()
        if node.next is not None:
            node.next.go.set()


def run(lock: Lock) -> None:
    visits: list[int] = []

    def visit(me: int) -> None:
        node = lock.acquire()
        visits.append(me)
        lock.release(node)

    threads = [threading.Thread(target=visit, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(visits) == [0, 1]


def buggy() -> None:
    run(Lock(waits_for_link=False))


def safe() -> None:
    run(Lock(waits_for_link=True))
