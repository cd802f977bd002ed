"""One thread asks whether an attribute is there that another sets."""

from _shared import Box, run

box = Box()


def ask():
    return hasattr(box, "value")  # at: ask


def write():
    box.value = 1  # at: write


run(ask, write)
