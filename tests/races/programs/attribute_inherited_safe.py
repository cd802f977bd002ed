"""A method of the base class takes the lock that a method of the derived one takes."""

import threading

from _shared import run


class Base:
    def __init__(self):
        self.lock = threading.Lock()
        self.state = "new"

    def start(self):
        with self.lock:
            self.state = "started"


class Derived(Base):
    def describe(self):
        with self.lock:
            return f"it is {self.state}"


thing = Derived()
run(thing.start, thing.describe)
