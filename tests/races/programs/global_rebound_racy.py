"""One thread puts another list into a global, another thread uses the one that is there."""

from _shared import run

table = [1, 2]


def reload():
    global table
    table = [3, 4]  # at: write


def first():
    return table[0]  # at: read


run(reload, first)
