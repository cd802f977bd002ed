"""A descriptor takes a lock: the attribute that it is called by is no variable."""

import threading

from _shared import run


class Celsius:
    def __init__(self):
        self.lock = threading.Lock()

    def __get__(self, owner, kind=None):
        with self.lock:
            return owner.kept

    def __set__(self, owner, degrees):
        with self.lock:
            owner.kept = degrees


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
