"""To sleep long enough is no order."""

import time

from _shared import Box, run

box = Box()


def produce():
    box.value = 1  # at: write


def consume():
    time.sleep(0.03)
    return box.value  # at: read


run(produce, consume)
