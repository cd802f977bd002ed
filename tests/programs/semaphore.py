"""Semaphore: at most three inside; acquire with and without blocking, release(n).

Varies: the order, the crowd inside at each entry, failed tries.
"""

import threading
from zlib import crc32

places = threading.Semaphore(3)
inside = []
log = []


def busy(steps):
    total = 0
    for step in range(steps):
        total += step
    return total


def visit(name):
    for turn in range(10):
        with places:
            inside.append(name)
            log.append((name, turn, len(inside)))
            busy(20)
            inside.remove(name)
        if places.acquire(blocking=False):
            places.release()
        else:
            log.append((name, turn, "full"))


threads = [threading.Thread(target=visit, args=(name,)) for name in range(7)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

crowds = [crowd for *_, crowd in log if crowd != "full"]
print("largest crowd", max(crowds), "full", len(log) - len(crowds))
print("log", log[:10], crc32(repr(log).encode()))

starved = threading.Semaphore(0)
woken = []


def starve(name):
    starved.acquire()
    woken.append(name)


threads = [threading.Thread(target=starve, args=(name,)) for name in "abcdef"]
for thread in threads:
    thread.start()
starved.release(2)
starved.release(4)
for thread in threads:
    thread.join()
print("woken", woken)
