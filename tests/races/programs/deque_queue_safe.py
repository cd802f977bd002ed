"""A deque as a queue: what is appended is no longer touched by who appended it."""

import time
from collections import deque

from _shared import Box, run

inbox = deque()


def produce():
    for number in range(4):
        box = Box()
        box.value = number
        inbox.append(box)


def take():
    while True:
        try:
            return inbox.popleft()
        except IndexError:
            time.sleep(0.001)


def consume():
    for number in range(4):
        assert take().value == number


run(produce, consume)
