"""A semaphore as a signal: one release for several that wait."""

import threading

from _shared import Box, run

box = Box()
ready = threading.Semaphore(0)


def produce():
    box.value = 1
    ready.release(2)


def consume():
    ready.acquire()
    assert box.value == 1


run(consume, produce, consume)
