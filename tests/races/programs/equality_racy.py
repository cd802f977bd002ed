"""One thread compares two lists, another appends to one of them."""

from _shared import run

left = [1, 2]
right = [1, 2]


def compare():
    return left == right  # at: compare


def append():
    right.append(3)  # at: append


run(compare, append)
