"""A deque as a queue: what was appended is changed after that."""

import time
from collections import deque

from _shared import Box, run

inbox = deque()


def produce():
    box = Box()
    inbox.append(box)
    box.value = 1  # at: write


def consume():
    while True:
        try:
            return inbox.popleft().value  # at: read
        except IndexError:
            time.sleep(0.001)


run(produce, consume)
