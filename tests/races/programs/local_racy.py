"""What is a thread's own is a reference; the object is everybody's."""

import threading

from _shared import Box, run

box = Box()
own = threading.local()


def work():
    own.box = box
    own.box.value += 1  # at: add


run(work, work)
