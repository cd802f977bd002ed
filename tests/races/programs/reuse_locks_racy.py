"""Each thread makes a lock for itself, and guards with it what is everybody's."""

import threading

from _shared import Box, run

box = Box()


def work():
    lock = threading.Lock()
    with lock:
        box.value += 1  # at: add


run(work, work)
