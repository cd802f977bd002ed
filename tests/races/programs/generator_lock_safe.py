"""A generator holds the lock while its user works with what it handed out."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def guarded():
    with lock:
        yield box


def work():
    for _ in range(3):
        for found in guarded():
            found.value += 1


run(work, work)
assert box.value == 6
