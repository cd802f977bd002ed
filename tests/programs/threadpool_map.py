"""multiprocessing.pool.ThreadPool: map with chunks, imap, starmap.

Varies: the order of side effects, not the results.
"""

from multiprocessing.pool import ThreadPool
from zlib import crc32

effects = []


def square(number):
    effects.append(number)
    return number * number


def add(left, right):
    effects.append((left, right))
    return left + right


with ThreadPool(4) as pool:
    print("map", sum(pool.map(square, range(60), chunksize=5)))
    print("imap", sum(pool.imap(square, range(30))))
    print("starmap", sum(pool.starmap(add, enumerate(range(20)))))

print("effects", len(effects), effects[:12], crc32(repr(effects).encode()))
