"""The variable behind a property is raced on, in the bodies of getter and setter."""

from _shared import run


class Kettle:
    def __init__(self):
        self._celsius = 20

    @property
    def celsius(self):
        return self._celsius  # at: get

    @celsius.setter
    def celsius(self, degrees):
        self._celsius = degrees  # at: set


kettle = Kettle()


def heat():
    kettle.celsius = 100


def look():
    return kettle.celsius


run(heat, look)
