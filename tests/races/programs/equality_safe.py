"""Two threads compare lists that nobody changes."""

from _shared import run

left = [1, 2]
right = [1, 2]


def compare():
    return left == right, left != right, left < right


run(compare, compare)
