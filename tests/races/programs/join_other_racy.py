"""Two threads write; the parent reads when it has joined the wrong one."""

import threading

from _shared import Box

box = Box()


def work():
    box.value = 1  # at: write


def idle():
    pass


worker = threading.Thread(target=work)
other = threading.Thread(target=idle)
worker.start()
other.start()
other.join()
assert box.value in (0, 1)  # at: read
worker.join()
