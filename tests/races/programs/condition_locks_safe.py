"""Two conditions that have one lock: what is done in one is known in the other."""

import threading

from _shared import run

lock = threading.Lock()
not_full = threading.Condition(lock)
not_empty = threading.Condition(lock)
items = []


def produce():
    for number in range(6):
        with not_full:
            while len(items) >= 2:
                not_full.wait()
            items.append(number)
            not_empty.notify()


def consume():
    for _ in range(6):
        with not_empty:
            while not items:
                not_empty.wait()
            items.pop(0)
            not_full.notify()


run(produce, consume)
assert items == []
