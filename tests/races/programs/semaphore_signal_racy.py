"""A semaphore as a signal: the value is written after it."""

import threading

from _shared import Box, run

box = Box()
ready = threading.Semaphore(0)


def produce():
    ready.release()
    box.value = 1  # at: write


def consume():
    ready.acquire()
    return box.value  # at: read


run(produce, consume)
