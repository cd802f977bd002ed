"""Many threads read an attribute that was written before any of them was started."""

from _shared import Box, run

box = Box()
box.value = 1


def read():
    return box.value


run(*[read] * 12)
box.value = 2
