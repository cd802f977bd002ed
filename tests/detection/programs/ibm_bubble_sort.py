"""Non-atomic operation: two threads make their passes over one list, and swaps are not atomic.

From: Bubble Sort, IBM Concurrency Testing Repository.
Needs: one thread swaps or compares while the other is between two steps of a pass.
"""

import threading


def make_pass(numbers: list[int]) -> None:
    for place in range(len(numbers) - 1):
        if numbers[place] > numbers[place + 1]:
            left, right = numbers[place], numbers[place + 1]
            numbers[place] = right
            numbers[place + 1] = left


def buggy() -> None:
    numbers = [3, 2, 1]
    threads = [threading.Thread(target=make_pass, args=(numbers,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers == [1, 2, 3]


def safe() -> None:
    numbers = [3, 2, 1]
    lock = threading.Lock()

    def make_pass_alone() -> None:
        with lock:
            make_pass(numbers)

    threads = [threading.Thread(target=make_pass_alone) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers == [1, 2, 3]
