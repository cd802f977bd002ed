"""Two threads write two slots of an object."""

from _shared import run


class Point:
    __slots__ = ("x", "y")

    def __init__(self):
        self.x = 0
        self.y = 0


point = Point()


def write_x():
    point.x = 1


def write_y():
    point.y = 1


run(write_x, write_y)
