"""An attribute is written by setattr and read by getattr."""

from _shared import Box, run

box = Box()


def write():
    setattr(box, "value", 1)  # at: write


def read():
    return getattr(box, "value", None)  # at: read


run(write, read)
