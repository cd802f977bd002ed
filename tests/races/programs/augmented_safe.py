"""Two threads add to one attribute, each with the lock over the read and the write."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def add():
    for _ in range(20):
        with lock:
            box.value += 1


run(add, add)
assert box.value == 40
