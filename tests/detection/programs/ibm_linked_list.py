"""Non-atomic operation: a new node is linked behind a tail that is not the tail any more.

From: Linked List, IBM Concurrency Testing Repository.
Needs: both threads find the same last node before one of them has linked its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Node:
    def __init__(self, value: int) -> None:
        self.value = value
        self.next: Node | None = None


class LinkedList:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.head = Node(0)

    def append(self, value: int) -> None:
        node = self.head
        while (following := node.next) is not None:
            node = following
        node.next = Node(value)

    def append_locked(self, value: int) -> None:
        with self.lock:
            self.append(value)

    def values(self) -> list[int]:
        found = []
        node = self.head.next
        while node is not None:
            found.append(node.value)
            node = node.next
        return found


def run(numbers: LinkedList, append: Callable[[int], None]) -> None:
    append(1)
    threads = [threading.Thread(target=append, args=(value,)) for value in (2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers.values()) == [1, 2, 3]


def buggy() -> None:
    numbers = LinkedList()
    run(numbers, numbers.append)


def safe() -> None:
    numbers = LinkedList()
    run(numbers, numbers.append_locked)
