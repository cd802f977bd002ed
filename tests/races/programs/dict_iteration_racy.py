"""One thread goes through a dict, another writes the value of a key that is there."""

from _shared import run

users = {"ann": 1, "bob": 2}


def names():
    return [name.upper() for name in users]  # at: iterate


def write():
    users["ann"] = 3  # at: write


run(names, write)
