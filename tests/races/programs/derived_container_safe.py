"""A class derived from dict whose methods take a lock: its user needs none."""

import threading

from _shared import run


class Locked(dict):
    def __init__(self):
        super().__init__()
        self.lock = threading.RLock()

    def __getitem__(self, key):
        with self.lock:
            return super().__getitem__(key)

    def __setitem__(self, key, value):
        with self.lock:
            super().__setitem__(key, value)

    def __contains__(self, key):
        with self.lock:
            return super().__contains__(key)

    def __len__(self):
        with self.lock:
            return super().__len__()


locked = Locked()


def write():
    locked["a"] = 1
    locked["b"] = 2


def read():
    size = len(locked)
    return size + locked["a"] if "a" in locked else size


run(write, read)
