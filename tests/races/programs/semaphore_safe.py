"""A semaphore for one is a lock."""

import threading

from _shared import Box, run

box = Box()
room = threading.Semaphore(1)


def work():
    for _ in range(5):
        with room:
            box.value += 1


run(work, work)
assert box.value == 10
