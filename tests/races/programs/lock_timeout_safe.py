"""Waiting for the lock has a timeout that is long enough, or is repeated."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def work():
    while not lock.acquire(timeout=0.01):
        pass
    try:
        box.value += 1
    finally:
        lock.release()


run(work, work, work)
assert box.value == 3
