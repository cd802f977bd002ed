"""A container of the program's, which keeps its items in a list and has no lock."""

from _shared import run


class Shelf:
    def __init__(self):
        self.kept = [0, 0]

    def __getitem__(self, index):
        return self.kept[index]  # at: get

    def __setitem__(self, index, value):
        self.kept[index] = value  # at: set


shelf = Shelf()


def write():
    shelf[0] = 1


def read():
    return shelf[0]


run(write, read)
