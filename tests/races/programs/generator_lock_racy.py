"""A generator lets go of the lock before it hands out what it should guard."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def guarded():
    with lock:
        found = box
    yield found


def work():
    for found in guarded():
        found.value = 1  # at: write


run(work, work)
