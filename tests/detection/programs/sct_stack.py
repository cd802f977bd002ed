"""Check, then act: two threads see that the stack is not empty, and both take.

From: stack_bad, SCTBench (CS).
Needs: both look before either takes the only item. The second take is an IndexError.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class Stack:
    def __init__(self, guard: AbstractContextManager[object]) -> None:
        self.guard = guard
        self.items: list[int] = []
        self.got: list[int] = []

    def push(self) -> None:
        with self.guard:
            self.items.append(1)

    def take(self) -> None:
        with self.guard:
            if self.items:
                self.got.append(self.items.pop())


def run(stack: Stack) -> None:
    threads = [threading.Thread(target=target) for target in (stack.push, stack.take, stack.take)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stack.got) + len(stack.items) == 1


def buggy() -> None:
    run(Stack(nullcontext()))


def safe() -> None:
    run(Stack(threading.Lock()))
