"""An event that is set and cleared again and again, with another one for the way back."""

import threading

from _shared import Box, run

box = Box()
full = threading.Event()
empty = threading.Event()
empty.set()


def produce():
    for number in range(5):
        empty.wait()
        empty.clear()
        box.value = number
        full.set()


def consume():
    for number in range(5):
        full.wait()
        full.clear()
        assert box.value == number
        empty.set()


run(produce, consume)
