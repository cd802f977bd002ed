"""Sixty-four threads alive at once, all in the same race.

Varies: the counter, the finishing order.
"""

import threading
from zlib import crc32

THREADS = 64

start = threading.Barrier(THREADS + 1)
counter = 0
order = []


def plus_one(value):
    return value + 1


def work(number):
    global counter
    start.wait()
    for _ in range(20):
        counter = plus_one(counter)
    order.append(number)


threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
print("alive", threading.active_count() - 1)
start.wait()
for thread in threads:
    thread.join()

print("counter", counter)
print("order", order, crc32(repr(order).encode()))
