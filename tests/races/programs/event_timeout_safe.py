"""The wait for the event is repeated until it was not in vain."""

import threading

from _shared import Box, run

box = Box()
ready = threading.Event()


def produce():
    box.value = 1
    ready.set()


def consume():
    while not ready.wait(timeout=0.001):
        pass
    assert box.value == 1


run(produce, consume)
