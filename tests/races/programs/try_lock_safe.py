"""Threads try to take the lock until they have it."""

import threading
import time

from _shared import Box, run

box = Box()
lock = threading.Lock()


def work():
    for _ in range(5):
        while not lock.acquire(blocking=False):
            time.sleep(0.001)
        box.value += 1
        lock.release()


run(work, work)
assert box.value == 10
