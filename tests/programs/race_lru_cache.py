"""functools.lru_cache raced: the function runs several times for one key, entries are evicted.

Varies: hits, misses and the sequence of computed keys.
"""

import functools
import threading
from zlib import crc32

computed = []


@functools.lru_cache(maxsize=8)
def slow_square(number):
    computed.append((threading.current_thread().name, number))
    total = 0
    for _ in range(number):
        total += number
    return total


@functools.cache
def fibonacci(n):
    computed.append(n)
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work(name):
    for step in range(80):
        assert slow_square((step * (name + 3)) % 12) == ((step * (name + 3)) % 12) ** 2
    assert fibonacci(20 + name) > 0


threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("squares", slow_square.cache_info())
print("fibonacci", fibonacci.cache_info())
print("computed", len(computed), crc32(repr(computed).encode()))
