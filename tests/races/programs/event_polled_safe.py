"""An event that is asked, and says that it is set, orders as one that is waited for."""

import threading
import time

from _shared import Box, run

box = Box()
ready = threading.Event()


def produce():
    box.value = 1
    ready.set()


def consume():
    while not ready.is_set():
        time.sleep(0.001)
    assert box.value == 1


run(produce, consume)
