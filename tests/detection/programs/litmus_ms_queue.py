"""Missing retry: a producer whose compare-and-swap failed helps the tail on, and goes away.

From: ms-queue, the litmus programs of CDSchecker and tsan11rec.
Needs: both producers find the same last node free before either links its own behind it.
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
    def __init__(self, item: int) -> None:
        self.item = item
        self.next: Atomic[Node | None] = Atomic(None)


class Queue:
    def __init__(self, tries_again: bool) -> None:
        self.tries_again = tries_again
        self.head = Node(0)
        self.tail = Atomic(self.head)

    def put(self, item: int) -> None:
        node = Node(item)
        while True:
            last = self.tail.value
            after = last.next.value
            if after is not None:
                self.tail.change(last, after)
            elif last.next.change(None, node):
                self.tail.change(last, node)
                return
            elif not self.tries_again:
                return

    def items(self) -> list[int]:
        found = []
        node = self.head.next.value
        while node is not None:
            found.append(node.item)
            node = node.next.value
        return found


def run(queue: Queue) -> None:
    threads = [threading.Thread(target=queue.put, args=(item,)) for item in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(queue.items()) == [1, 2]


def buggy() -> None:
    run(Queue(tries_again=False))


def safe() -> None:
    run(Queue(tries_again=True))
