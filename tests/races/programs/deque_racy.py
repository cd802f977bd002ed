"""Waiting for a deque to be no longer empty: the look at it is not ordered with the append."""

import time
from collections import deque

from _shared import run

inbox = deque()


def produce():
    inbox.append(1)  # at: append


def consume():
    while not inbox:  # at: while
        time.sleep(0.001)
    inbox.popleft()


run(produce, consume)
