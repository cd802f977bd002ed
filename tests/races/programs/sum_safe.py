"""Functions that go through a list, in two threads; none of them changes it."""

from _shared import run

numbers = [1, 2]


def total():
    own = sorted(numbers) + list(numbers) + [*map(str, numbers)]
    return sum(numbers), min(numbers), any(numbers), tuple(numbers), len(own)


run(total, total)
