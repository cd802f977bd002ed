"""One thread assigns a slice, another reads an item."""

from _shared import run

cells = [0, 1, 2, 3]


def assign():
    cells[0:2] = [5, 6]  # at: slice


def read():
    return cells[1]  # at: read


run(assign, read)
