"""The lock is held once for the read and once for the write: an error, but no data race."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def add():
    with lock:
        value = box.value
    with lock:
        box.value = value + 1


run(add, add)
