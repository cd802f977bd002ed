"""One thread copies a list by a slice and writes an item of its copy."""

from _shared import run

cells = [0, 1, 2, 3]


def copy():
    own = cells[:]
    own[1] = 5
    return own


run(copy, copy)
