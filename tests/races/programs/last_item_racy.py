"""The last item of a list is another one after an append."""

from _shared import run

cells = [7]


def append():
    cells.append(8)  # at: append


def read():
    return cells[-1]  # at: last


run(append, read)
