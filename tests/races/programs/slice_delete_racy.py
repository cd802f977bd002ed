"""One thread deletes a slice of a list, another appends."""

from _shared import run

cells = [0, 1, 2, 3]


def delete():
    del cells[:2]  # at: delete


def append():
    cells.append(4)  # at: append


run(delete, append)
