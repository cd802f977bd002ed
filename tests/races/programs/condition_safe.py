"""The value is written before the others are notified."""

import threading

from _shared import Box, run

box = Box()
changed = threading.Condition()
state = {"ready": False}


def produce():
    box.value = 1
    with changed:
        state["ready"] = True
        changed.notify_all()


def consume():
    with changed:
        changed.wait_for(lambda: state["ready"])
    assert box.value == 1


run(consume, produce, consume)
