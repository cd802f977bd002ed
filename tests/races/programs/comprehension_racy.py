"""A set comprehension goes through a list while another thread extends it."""

from _shared import run

numbers = [1, 2, 3]


def squares():
    return {number * number for number in numbers}  # at: comprehension


def extend():
    numbers.extend((4, 5))  # at: extend


run(squares, extend)
