"""Two threads count letters into one Counter; adding up is not one step."""

from collections import Counter

from _shared import run

counts = Counter()


def count():
    counts.update("abc")  # at: update


run(count, count)
