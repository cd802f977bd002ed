"""The value is written before the timer is started; a timer that was cancelled does nothing."""

import threading

from _shared import Box

box = Box()


def ring():
    box.value += 1


timer = threading.Timer(0.002, ring)
cancelled = threading.Timer(60, ring)
box.value = 1
timer.start()
cancelled.start()
cancelled.cancel()
timer.join()
cancelled.join()
assert box.value == 2
