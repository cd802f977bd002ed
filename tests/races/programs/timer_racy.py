"""The value is written after the timer was started that reads it."""

import threading

from _shared import Box

box = Box()


def ring():
    return box.value  # at: read


timer = threading.Timer(0.002, ring)
timer.start()
box.value = 1  # at: write
timer.join()
