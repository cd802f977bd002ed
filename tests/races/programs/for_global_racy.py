"""A loop binds a global that another thread reads."""

from _shared import run

current = 0


def loop():
    global current
    for current in (1, 2, 3):  # at: for
        pass


def read():
    return current  # at: read


run(loop, read)
