"""A new list is made of two while another thread appends to one of them."""

from _shared import run

left = [1, 2]
right = [1, 2]


def together():
    return left + right  # at: add


def append():
    left.append(3)  # at: append


run(together, append)
