"""Three threads in a row, each told by the one before it in another way."""

import queue
import threading

from _shared import Box, run

box = Box()
told = threading.Event()
passed_on = queue.SimpleQueue()


def first():
    box.value = 1
    told.set()


def second():
    told.wait()
    passed_on.put("go")


def third():
    passed_on.get()
    assert box.value == 1
    box.value = 2


run(third, second, first)
