"""Getter and setter of a property take a lock: that the property is used without is no matter."""

import threading

from _shared import run


class Kettle:
    def __init__(self):
        self._lock = threading.Lock()
        self._celsius = 20

    @property
    def celsius(self):
        with self._lock:
            return self._celsius

    @celsius.setter
    def celsius(self, degrees):
        with self._lock:
            self._celsius = degrees


kettle = Kettle()


def heat():
    kettle.celsius = 100


def look():
    return kettle.celsius


run(heat, look)
