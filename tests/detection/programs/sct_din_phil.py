"""Lock order in a ring: three philosophers take the left fork first.

From: din_phil3_sat, SCTBench (CS).
Needs: all three hold their left fork before any has reached for the right one. Deadlock.
"""

import threading


def dine(forks: list[threading.Lock], seats: list[tuple[int, int]]) -> None:
    meals: list[int] = []

    def eat(first: int, second: int) -> None:
        with forks[first], forks[second]:
            meals.append(first)

    threads = [threading.Thread(target=eat, args=seat) for seat in seats]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(meals) == 3


def buggy() -> None:
    dine([threading.Lock() for _ in range(3)], [(0, 1), (1, 2), (2, 0)])


def safe() -> None:
    dine([threading.Lock() for _ in range(3)], [(0, 1), (1, 2), (0, 2)])
