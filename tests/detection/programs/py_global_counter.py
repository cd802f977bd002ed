"""Lost update of a global: two threads give out numbers from a module's counter.

From: module-level identifiers.
Needs: one thread reads and writes between the other one's read and write.
"""

import threading
from collections.abc import Callable

last_number = 0


def next_number() -> int:
    global last_number
    number = last_number + 1
    last_number = number
    return number


def run(target: Callable[[], int]) -> None:
    global last_number
    last_number = 0
    numbers: list[int] = []

    def take() -> None:
        numbers.append(target())

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == [1, 2]


def buggy() -> None:
    run(next_number)


def safe() -> None:
    lock = threading.Lock()

    def next_number_locked() -> int:
        with lock:
            return next_number()

    run(next_number_locked)
