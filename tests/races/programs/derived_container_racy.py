"""A class derived from dict that counts its writes: the count is raced on."""

from _shared import run


class Counted(dict):
    def __init__(self):
        super().__init__()
        self.writes = 0

    def __setitem__(self, key, value):
        self.writes += 1  # at: count
        super().__setitem__(key, value)


counted = Counted()


def writer(key):
    def write():
        counted[key] = 1

    return write


run(writer("a"), writer("b"))
