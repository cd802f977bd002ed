"""One thread puts another list into a global and is joined before others use it."""

from _shared import run

table = [1, 2]


def reload():
    global table
    table = [3, 4]


def first():
    return table[0]


run(reload)
run(first, first)
