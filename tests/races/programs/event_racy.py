"""The value is written after the event was set."""

import threading

from _shared import Box, run

box = Box()
ready = threading.Event()


def produce():
    ready.set()
    box.value = 1  # at: write


def consume():
    ready.wait()
    return box.value  # at: read


run(produce, consume)
