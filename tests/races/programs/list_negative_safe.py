"""One thread appends, another reads the first item: appending does not move it."""

from _shared import run

cells = [7]


def append():
    for number in range(20):
        cells.append(number)


def read():
    return cells[0]


run(append, read)
