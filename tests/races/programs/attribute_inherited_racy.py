"""The attribute is set by a base class and read by a derived one: it is one variable."""

from _shared import run


class Base:
    def __init__(self):
        self.state = "new"

    def start(self):
        self.state = "started"  # at: start


class Derived(Base):
    def describe(self):
        return f"it is {self.state}"  # at: describe


thing = Derived()
run(thing.start, thing.describe)
