"""A descriptor keeps the value for its owner, without a lock."""

from _shared import run


class Celsius:
    def __get__(self, owner, kind=None):
        return owner.kept  # at: get

    def __set__(self, owner, degrees):
        owner.kept = degrees  # at: set


class Kettle:
    celsius = Celsius()

    def __init__(self):
        self.kept = 20


kettle = Kettle()


def heat():
    kettle.celsius = 100


def look():
    return kettle.celsius


run(heat, look)
