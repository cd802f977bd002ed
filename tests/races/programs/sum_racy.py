"""A list is summed up while another thread writes one of its items."""

from _shared import run

numbers = [1, 2]


def total():
    return sum(numbers)  # at: sum


def write():
    numbers[0] = 3  # at: write


run(total, write)
