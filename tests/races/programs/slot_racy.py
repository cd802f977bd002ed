"""One thread writes a slot of an object, another reads it."""

from _shared import run


class Point:
    __slots__ = ("x", "y")

    def __init__(self):
        self.x = 0
        self.y = 0


point = Point()


def write():
    point.x = 1  # at: write


def read():
    return point.x  # at: read


run(write, read)
