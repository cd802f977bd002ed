"""One reads before the barrier what the other writes before it."""

import threading

from _shared import Box, run

box = Box()
barrier = threading.Barrier(2)


def write():
    box.value = 1  # at: write
    barrier.wait()


def read():
    value = box.value  # at: read
    barrier.wait()
    return value


run(write, read)
