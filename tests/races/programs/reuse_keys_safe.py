"""Keys that are objects come and go: one that lies where another has been is another key."""

from _shared import Box, run

table = {}


def work():
    for _ in range(50):
        key = Box()
        table[key] = 1
        table[key] += 1
        del table[key]


run(work, work)
assert table == {}
