"""The event is asked again and again; the value is written after it was set."""

import threading
import time

from _shared import Box, run

box = Box()
ready = threading.Event()


def produce():
    ready.set()
    box.value = 1  # at: write


def consume():
    while not ready.is_set():
        time.sleep(0.001)
    return box.value  # at: read


run(produce, consume)
