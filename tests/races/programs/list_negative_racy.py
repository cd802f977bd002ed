"""The last item by its number from the end, and by that from the start: two threads write it."""

from _shared import run

cells = [0] * 10


def write_last():
    cells[-1] = 1  # at: last


def write_ninth():
    cells[9] = 2  # at: ninth


run(write_last, write_ninth)
