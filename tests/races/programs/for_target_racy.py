"""A loop binds an attribute that another thread reads."""

from _shared import Box, run

box = Box()


def loop():
    for box.value in (1, 2, 3):  # at: for
        pass


def read():
    return box.value  # at: read


run(loop, read)
