"""Two threads add to one attribute; each `+=` reads and writes."""

from _shared import Box, run

box = Box()


def add():
    box.value += 1  # at: add


run(add, add)
