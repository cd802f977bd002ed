"""Unsynchronised updates of closure cells (`nonlocal`).

Varies: the totals, and the sequence of values that the closures returned.
"""

import threading
from zlib import crc32


def make_counter():
    total = 0
    largest = 0

    def identity(value):
        return value

    def add(amount):
        nonlocal total, largest
        before = total
        total = identity(before) + amount
        if total > largest:
            largest = identity(total)
        return before

    def read():
        return total, largest

    return add, read


add, read = make_counter()
returned = []


def work(amount):
    for _ in range(200):
        returned.append((amount, add(amount)))


threads = [threading.Thread(target=work, args=(amount,)) for amount in (1, 10, 100)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("total and largest", read())
print("returned", len(returned), crc32(repr(returned).encode()))
