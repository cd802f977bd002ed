"""A function keeps its count in an attribute of its own."""

from _shared import run


def hit():
    hit.count += 1  # at: count


hit.count = 0
run(hit, hit)
