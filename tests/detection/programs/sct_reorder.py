"""Torn state: two variables belong together, and are written one after the other.

From: reorder_3_bad, SCTBench (CS).
Needs: the checker looks after the first writer's first write and before any second write.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


class State:
    def __init__(self) -> None:
        self.a = 0
        self.b = 0


def run(guard: AbstractContextManager[object]) -> None:
    state = State()
    seen: list[tuple[int, int]] = []

    def write() -> None:
        with guard:
            state.a = 1
            state.b = -1

    def check() -> None:
        with guard:
            a = state.a
            b = state.b
        seen.append((a, b))

    threads = [threading.Thread(target=target) for target in (write, write, check)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen in ([(0, 0)], [(1, -1)])


def buggy() -> None:
    run(nullcontext())


def safe() -> None:
    run(threading.Lock())
