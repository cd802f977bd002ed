"""Counters of itertools shared by threads, by `next`, as a bound method and in a loop.

Varies: who got which number.
"""

import itertools
import threading
from zlib import crc32

numbers = itertools.count()
tickets = itertools.count(100).__next__
colours = itertools.cycle("rgb")
taken = {}


def work(name):
    mine = []
    for _ in range(50):
        mine.append((next(numbers), tickets(), next(colours)))
    for number in numbers:
        mine.append(number)
        if number > 400:
            break
    taken[name] = mine


threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for name in sorted(taken):
    print(name, len(taken[name]), crc32(repr(taken[name]).encode()))
print("last", next(numbers), tickets(), next(colours))
