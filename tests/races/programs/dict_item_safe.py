"""Each thread looks for a key of its own, and puts it in if it is not there."""

from _shared import run

cache = {}


def filler(key):
    def fill():
        if key not in cache:
            cache[key] = 1
        return cache[key]

    return fill


run(filler("a"), filler("b"), filler(("a", 1)), filler(1.5))
assert len(cache) == 4
