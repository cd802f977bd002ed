"""Two threads read slices of a list."""

from _shared import run

cells = [0, 1, 2, 3]


def low():
    return cells[:2]


def high():
    return cells[2:], cells[::2]


run(low, high)
