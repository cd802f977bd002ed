"""The semaphore is released before the write that it should guard."""

import threading

from _shared import Box, run

box = Box()
room = threading.BoundedSemaphore(1)


def work():
    with room:
        pass
    box.value = 1  # at: write


run(work, work)
