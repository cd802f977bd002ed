"""The value is written before the event is set, and set again for the way back."""

import threading

from _shared import Box, run

box = Box()
ready = threading.Event()
taken = threading.Event()


def produce():
    box.value = 1
    ready.set()
    taken.wait()
    assert box.value == 2


def consume():
    ready.wait()
    box.value += 1
    taken.set()


run(produce, consume)
