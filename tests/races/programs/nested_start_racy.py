"""A thread starts another and does not join it: who joins the first knows nothing of the second."""

import threading

from _shared import Box

box = Box()
inner = []


def deep():
    box.value = 1  # at: write


def outer():
    thread = threading.Thread(target=deep)
    inner.append(thread)
    thread.start()


thread = threading.Thread(target=outer)
thread.start()
thread.join()
assert box.value in (0, 1)  # at: read
inner[0].join()
