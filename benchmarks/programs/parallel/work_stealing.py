"""Shared memory: threads have a pile of tasks each, and take from others' when their own is empty.

Tasks are ranges to count primes in; a large one is split into two, and put on the thread's own
pile.
"""

import threading
import time

from team import at_least, start

LIMIT = 200_000
SMALL = 100


class Pile:
    """The tasks of one thread: it takes the newest, others the oldest."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tasks: list[tuple[int, int]] = []

    def put(self, task: tuple[int, int]) -> None:
        """A new one."""
        with self.lock:
            self.tasks.append(task)

    def take(self, place: int) -> tuple[int, int] | None:
        """The newest (-1) or the oldest (0)."""
        with self.lock:
            return self.tasks.pop(place) if self.tasks else None


class Found:
    """The primes counted, and how many numbers are still to be looked at."""

    def __init__(self, left: int) -> None:
        self.lock = threading.Lock()
        self.primes = 0
        self.left = left

    def add(self, primes: int, looked_at: int) -> None:
        """A task is done."""
        with self.lock:
            self.primes += primes
            self.left -= looked_at


def count(first: int, last: int) -> int:
    """The primes from the first number to before the last."""
    primes = 0
    for number in range(max(first, 2), last):
        divisor = 2
        while divisor * divisor <= number and number % divisor:
            divisor += 1
        primes += divisor * divisor > number
    return primes


def take_any(piles: list[Pile], number: int) -> tuple[int, int] | None:
    """A task of the thread's own, or one that it steals."""
    task = piles[number].take(-1)
    for step in range(1, len(piles)):
        if task is not None:
            break
        task = piles[(number + step) % len(piles)].take(0)
    return task


def main() -> None:
    """Count all."""
    team, scale = start()
    limit = at_least(50, LIMIT * scale)
    piles = [Pile() for _ in range(team.size)]
    piles[0].put((0, limit))
    found = Found(limit)

    def work(number: int) -> None:
        while found.left:
            task = take_any(piles, number)
            if task is None:
                time.sleep(0.0001)
            elif task[1] - task[0] > SMALL:
                middle = (task[0] + task[1]) // 2
                piles[number].put((middle, task[1]))
                piles[number].put((task[0], middle))
            else:
                found.add(count(*task), task[1] - task[0])

    team.run(work)
    team.finish((found.primes, found.left))


main()
