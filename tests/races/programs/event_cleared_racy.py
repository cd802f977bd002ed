"""The event that was set is cleared: what is done after that is not ordered by it."""

import threading

from _shared import Box, run

box = Box()
ready = threading.Event()
go_on = threading.Event()


def produce():
    ready.set()
    go_on.wait()
    ready.clear()
    box.value = 1  # at: write


def consume():
    ready.wait()
    go_on.set()
    return box.value  # at: read


run(produce, consume)
