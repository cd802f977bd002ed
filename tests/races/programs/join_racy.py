"""The parent reads the result of a thread before it has joined it."""

import threading

from _shared import Box

box = Box()


def work():
    box.value = 1  # at: write


thread = threading.Thread(target=work)
thread.start()
assert box.value in (0, 1)  # at: read
thread.join()
