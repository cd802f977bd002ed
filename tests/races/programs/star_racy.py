"""A list is spread into the arguments of a call while another thread appends."""

from _shared import run

numbers = [1, 2]


def call():
    return max(0, *numbers)  # at: star


def append():
    numbers.append(3)  # at: append


run(call, append)
