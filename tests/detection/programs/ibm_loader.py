"""Sleep interleaving: a thread per pass of a sort; sleeps are believed to order them.

From: Loader, IBM Concurrency Testing Repository.
Needs: a sleep that ends before the thread that should have been done by then is done.
"""

import threading
import time


def make_pass(numbers: list[int]) -> None:
    for place in range(2):
        if numbers[place] > numbers[place + 1]:
            left, right = numbers[place], numbers[place + 1]
            numbers[place] = right
            numbers[place + 1] = left


def buggy() -> None:
    numbers = [0, 0, 0]

    def sort_after(delay: float) -> None:
        time.sleep(delay)
        make_pass(numbers)

    threads = [threading.Thread(target=sort_after, args=(delay,)) for delay in (0.1, 0.4)]
    for thread in threads:
        thread.start()
    for place in range(3):
        numbers[place] = 3 - place
    for thread in threads:
        thread.join()
    assert numbers == [1, 2, 3]


def safe() -> None:
    numbers = [0, 0, 0]
    loaded, half_sorted = threading.Event(), threading.Event()

    def sort_first() -> None:
        loaded.wait()
        make_pass(numbers)
        half_sorted.set()

    def sort_second() -> None:
        half_sorted.wait()
        make_pass(numbers)

    threads = [threading.Thread(target=target) for target in (sort_first, sort_second)]
    for thread in threads:
        thread.start()
    for place in range(3):
        numbers[place] = 3 - place
    loaded.set()
    for thread in threads:
        thread.join()
    assert numbers == [1, 2, 3]
