"""Dining philosophers without deadlock: forks taken in order.

Varies: the order of meals, and the thoughts had while waiting.
"""

import threading
from zlib import crc32

SEATS = 5
MEALS = 12

forks = [threading.Lock() for _ in range(SEATS)]
meals = []
thoughts = [0] * SEATS


def dine(seat):
    first, second = sorted((seat, (seat + 1) % SEATS))
    for _ in range(MEALS):
        while not forks[first].acquire(timeout=0.001):
            thoughts[seat] += 1
        with forks[second]:
            meals.append(seat)
        forks[first].release()


threads = [threading.Thread(target=dine, args=(seat,)) for seat in range(SEATS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("meals", "".join(map(str, meals)), crc32(repr(meals).encode()))
print("thoughts", thoughts)
