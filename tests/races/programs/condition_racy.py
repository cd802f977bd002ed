"""The value is written after the others have been notified."""

import threading

from _shared import Box, run

box = Box()
changed = threading.Condition()
state = {"ready": False}


def produce():
    with changed:
        state["ready"] = True
        changed.notify_all()
    box.value = 1  # at: write


def consume():
    with changed:
        changed.wait_for(lambda: state["ready"])
    return box.value  # at: read


run(produce, consume)
