"""Each thread rotates its own deque."""

from collections import deque

from _shared import run

rings = [deque([1, 2, 3]), deque([4, 5])]


def rotator(index):
    def rotate():
        rings[index].rotate()
        rings[index].extend((6, 7))
        return len(rings[index])

    return rotate


run(rotator(0), rotator(1))
