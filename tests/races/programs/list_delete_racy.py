"""One thread deletes an item of a list, and all behind it move; another reads one of them."""

from _shared import run

cells = [0, 1, 2, 3]


def delete():
    del cells[0]  # at: delete


def read():
    return cells[2]  # at: read


run(delete, read)
