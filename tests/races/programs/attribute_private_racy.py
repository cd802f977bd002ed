"""The attribute has two underscores: Python mangles its name, and it is raced on all the same."""

from _shared import run


class Meter:
    def __init__(self):
        self.__count = 0

    def read(self):
        return self.__count  # at: read

    def reset(self):
        self.__count = 0  # at: reset


meter = Meter()
run(meter.read, meter.reset)
