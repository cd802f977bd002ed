"""New sets are made of one set by two threads: unions, differences, intersections."""

from _shared import run

seen = {1, 2}


def combine():
    own = seen | {3}
    own.add(4)
    own -= seen
    return own.union(seen), seen & own, seen.difference(own), seen.isdisjoint(own)


run(combine, combine)
