"""Three threads in a row: the last one is told by the second, which did not wait for the first."""

import threading

from _shared import Box, run

box = Box()
told = threading.Event()


def first():
    box.value = 1  # at: write


def second():
    told.set()


def third():
    told.wait()
    return box.value  # at: read


run(first, second, third)
