"""One thread rotates a deque, another appends."""

from collections import deque

from _shared import run

ring = deque([1, 2, 3])


def rotate():
    ring.rotate()  # at: rotate


def append():
    ring.append(4)  # at: append


run(rotate, append)
