"""A lock that was taken twice and released twice is no longer held."""

import threading

from _shared import Box, run

box = Box()
lock = threading.RLock()


def work():
    with lock:
        with lock:
            pass
    box.value = 1  # at: write


run(work, work)
