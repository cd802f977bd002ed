"""Shared memory: the shortest tour of some cities, by trying all that might be the shortest.

All threads look at the best length so far without a lock; whoever finds a shorter one looks again
under the lock, and writes it. Beginnings of tours are tasks, taken under another lock.
"""

import threading
from random import Random

from team import at_least, start

CITIES = 11
SPREAD = 1_000


class Best:
    """The shortest tour so far."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.length = 1 << 40
        self.found = 0

    def offer(self, length: int) -> None:
        """A tour that seemed shorter."""
        with self.lock:
            if length < self.length:
                self.length = length
                self.found += 1


class Tasks:
    """Beginnings that nobody has tried yet."""

    def __init__(self, cities: int) -> None:
        self.lock = threading.Lock()
        others = range(1, cities)
        self.all = [(one, two) for one in others for two in others if one != two]
        self.next = 0

    def take(self) -> tuple[int, int] | None:
        """The next one."""
        with self.lock:
            if self.next == len(self.all):
                return None
            self.next += 1
            return self.all[self.next - 1]


def ways(cities: int) -> list[list[int]]:
    """How far it is from each city to each."""
    random = Random(14)
    places = [(random.randrange(SPREAD), random.randrange(SPREAD)) for _ in range(cities)]
    return [[abs(x - u) + abs(y - v) + 64 for u, v in places] for x, y in places]


def search(best: Best, far: list[list[int]], path: list[int], left: list[int], length: int) -> None:
    """Try all ends of a tour."""
    here = far[path[-1]]
    if not left:
        length += here[0]
        if length < best.length:
            best.offer(length)
        return
    for place, city in enumerate(left):
        longer = length + here[city]
        if longer < best.length:
            search(best, far, [*path, city], left[:place] + left[place + 1 :], longer)


def main() -> None:
    """The larger the scale, the more cities."""
    team, scale = start()
    cities = at_least(5, CITIES * scale ** (1 / 8))
    best, tasks = Best(), Tasks(cities)

    def work(number: int) -> None:
        far = ways(cities)
        while (task := tasks.take()) is not None:
            one, two = task
            left = [city for city in range(1, cities) if city not in task]
            search(best, far, [0, one, two], left, far[0][one] + far[one][two])

    team.run(work)
    team.finish(best.length)


main()
