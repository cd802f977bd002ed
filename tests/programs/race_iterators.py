"""C iterators shared by threads: itertools.count, a list iterator, zip, enumerate, iter(callable).

Varies: who got which item.
"""

import itertools
import threading
from zlib import crc32

numbers = itertools.count()
letters = iter("abcdefghij" * 12)
pairs = enumerate(zip(range(120), itertools.cycle("xyz")))
polled = []


def poll():
    polled.append(None)
    return len(polled)


until_fifty = iter(poll, 50)
taken = []


def work(name):
    for letter in letters:
        taken.append((name, letter, next(numbers), next(pairs, None)))
        if len(polled) < 49:
            taken.append((name, next(until_fifty, "end")))


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("taken", len(taken), crc32(repr(taken).encode()))
print("next number", next(numbers), "polled", len(polled))
print("head", taken[:6])
