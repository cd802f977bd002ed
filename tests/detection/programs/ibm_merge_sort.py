"""Non-atomic operation: a parallel merge sort counts its free threads without a lock.

From: Merge Sort, IBM Concurrency Testing Repository.
Needs: one thread reads the count, another one changes it, the first writes its own result.
"""

import threading
from contextlib import AbstractContextManager, nullcontext
from heapq import merge


class Sorter:
    def __init__(self, guard: AbstractContextManager[object]) -> None:
        self.guard = guard
        self.free = 2

    def reserve(self) -> bool:
        with self.guard:
            if self.free == 0:
                return False
            self.free -= 1
            return True

    def give_back(self) -> None:
        with self.guard:
            self.free += 1

    def sort(self, numbers: list[int]) -> list[int]:
        if len(numbers) < 2:
            return numbers
        middle = len(numbers) // 2
        left, right = numbers[:middle], numbers[middle:]
        if not self.reserve():
            return list(merge(self.sort(left), self.sort(right)))
        helped: list[list[int]] = []
        helper = threading.Thread(target=lambda: helped.append(self.sort(left)))
        helper.start()
        right = self.sort(right)
        helper.join()
        self.give_back()
        return list(merge(helped[0], right))


def run(sorter: Sorter) -> None:
    assert sorter.sort([4, 2, 3, 1]) == [1, 2, 3, 4]
    assert sorter.free == 2


def buggy() -> None:
    run(Sorter(nullcontext()))


def safe() -> None:
    run(Sorter(threading.Lock()))
