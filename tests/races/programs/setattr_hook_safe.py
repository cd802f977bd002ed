"""A class that says how its attributes are set: in a dict, with a lock."""

import threading

from _shared import run


class Record:
    def __init__(self):
        object.__setattr__(self, "lock", threading.Lock())
        object.__setattr__(self, "fields", {"name": ""})

    def __setattr__(self, name, value):
        with self.lock:
            self.fields[name] = value

    def __getattr__(self, name):
        with self.lock:
            return self.fields[name]


record = Record()


def write():
    record.name = "ann"


def read():
    return record.name


run(write, read)
