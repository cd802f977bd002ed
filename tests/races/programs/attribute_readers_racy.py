"""Many threads read an attribute while one writes it."""

from _shared import Box, run

box = Box()


def read():
    return box.value  # at: read


def write():
    box.value = 1  # at: write


run(*[read] * 12, write)
