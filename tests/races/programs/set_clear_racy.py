"""One thread empties a set, another adds to it."""

from _shared import run

seen = {1}


def add():
    seen.add(2)  # at: add


def clear():
    seen.clear()  # at: clear


run(add, clear)
