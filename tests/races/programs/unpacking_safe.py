"""Two threads unpack a list and a tuple; one of them writes to what it unpacked into."""

from _shared import run

pair = [1, 2]
triple = (3, 4, 5)


def unpack():
    left, right = pair
    first, *rest = triple
    rest[0] = left
    return first + right + rest[0]


run(unpack, unpack)
