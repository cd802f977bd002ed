"""A lock that was taken twice and released once is still held."""

import threading

from _shared import Box, run

box = Box()
lock = threading.RLock()


def work():
    with lock:
        with lock:
            box.value += 1
        box.value += 1


run(work, work)
assert box.value == 4
