"""Two threads write one item of a list."""

from _shared import run

cells = [0] * 10


def write():
    cells[3] = 1  # at: write


run(write, write)
