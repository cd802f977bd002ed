"""Keys that are objects of the program's, each thread's another."""

from _shared import Box, run

cache = {}


def filler(key):
    def fill():
        cache[key] = 1
        cache[key] += 1
        return cache[key]

    return fill


run(filler(Box()), filler(Box()))
assert len(cache) == 2
