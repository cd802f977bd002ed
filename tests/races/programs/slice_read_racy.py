"""One thread copies a list by a slice, another writes one of its items."""

from _shared import run

cells = [0, 1, 2, 3]


def copy():
    return cells[:]  # at: slice


def write():
    cells[1] = 5  # at: write


run(copy, write)
