"""One thread sorts a copy of a list, another reads an item."""

from _shared import run

scores = [3, 1, 2]


def order():
    own = list(scores)
    own.sort()
    return own + sorted(scores)


def best():
    return scores[0]


run(order, best)
