"""The lock is held for the read only; what was read is written back without it."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def add():
    with lock:
        value = box.value  # at: read
    box.value = value + 1  # at: write


run(add, add)
