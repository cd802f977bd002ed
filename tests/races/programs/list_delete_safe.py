"""One thread deletes an item of a list and is joined; then two read."""

from _shared import run

cells = [0, 1, 2, 3]


def delete():
    del cells[0]


def read():
    return cells[2]


run(delete)
run(read, read)
