"""Unpacking binds an attribute that another thread reads."""

from _shared import Box, run

box = Box()


def assign():
    box.value, own = 1, 2  # at: write
    return own


def read():
    return box.value  # at: read


run(assign, read)
