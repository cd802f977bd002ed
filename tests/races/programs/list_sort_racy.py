"""One thread sorts a list, another reads an item."""

from _shared import run

scores = [3, 1, 2]


def sort():
    scores.sort()  # at: sort


def best():
    return scores[0]  # at: read


run(sort, best)
