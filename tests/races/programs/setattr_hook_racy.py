"""A class that says how its attributes are set, and does so without a lock."""

from _shared import run


class Record:
    def __init__(self):
        self.fields = {"name": ""}

    def __setattr__(self, name, value):
        if name == "fields":
            object.__setattr__(self, name, value)
        else:
            self.fields[name] = value  # at: set

    def __getattr__(self, name):
        return self.fields[name]  # at: get


record = Record()


def write():
    record.name = "ann"


def read():
    return record.name


run(write, read)
