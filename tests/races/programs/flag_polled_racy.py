"""A flag that is no event: neither it nor what it should announce is ordered."""

import time

from _shared import Box, run

box = Box()
box.ready = False


def produce():
    box.value = 1  # at: write
    box.ready = True  # at: set


def consume():
    while not box.ready:  # at: poll
        time.sleep(0.001)
    return box.value  # at: read


run(produce, consume)
