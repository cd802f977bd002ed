"""A container of the program's that has a lock: its user needs none."""

import threading

from _shared import run


class Shelf:
    def __init__(self):
        self.lock = threading.Lock()
        self.kept = [0, 0]

    def __getitem__(self, index):
        with self.lock:
            return self.kept[index]

    def __setitem__(self, index, value):
        with self.lock:
            self.kept[index] = value

    def __len__(self):
        with self.lock:
            return len(self.kept)

    def __contains__(self, value):
        with self.lock:
            return value in self.kept

    def __iter__(self):
        with self.lock:
            return iter(self.kept[:])

    def append(self, value):
        with self.lock:
            self.kept.append(value)


shelf = Shelf()


def write():
    shelf[0] = 1
    shelf[1] += 2
    shelf.append(3)


def read():
    return shelf[0], len(shelf), 3 in shelf, list(shelf), bool(shelf), [*shelf]


run(write, read)
