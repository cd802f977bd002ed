"""Nested submit: tasks wait for tasks of the same pool, and hold all its workers meanwhile.

From: parallel tree walks on ThreadPoolExecutor; a pause between the requests hides it.
Needs: both outer tasks have a worker before the inner task of the first was started. Deadlock.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def leaf(number: int) -> int:
    return number + 1


def run(pool: ThreadPoolExecutor, task: Callable[[int], int]) -> None:
    first = pool.submit(task, 1)
    time.sleep(0.02)
    second = pool.submit(task, 2)
    assert first.result() + second.result() == 5


def buggy() -> None:
    with ThreadPoolExecutor(2) as pool:
        run(pool, lambda number: pool.submit(leaf, number).result())


def safe() -> None:
    with ThreadPoolExecutor(2) as pool:
        run(pool, leaf)
