"""One thread unpacks a list, another writes an item of it."""

from _shared import run

pair = [1, 2]


def unpack():
    left, right = pair  # at: unpack
    return left + right


def write():
    pair[0] = 3  # at: write


run(unpack, write)
