"""Lost update of a closure variable: `nonlocal` makes it shared, nothing makes it atomic.

From: counting callbacks.
Needs: one thread writes between another one's read and write.
"""

import threading
from contextlib import AbstractContextManager, nullcontext


def run(guard: AbstractContextManager[object]) -> None:
    count = 0

    def call_back() -> None:
        nonlocal count
        with guard:
            count += 1

    threads = [threading.Thread(target=call_back) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == 3


def buggy() -> None:
    run(nullcontext())


def safe() -> None:
    run(threading.Lock())
