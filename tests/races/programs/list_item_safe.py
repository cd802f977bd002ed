"""Two threads write a list, each its own half of the indexes."""

from _shared import run

cells = [0] * 10


def writer(start):
    def write():
        for index in range(start, start + 5):
            cells[index] = index
            cells[index] += 1

    return write


run(writer(0), writer(5))
assert cells == list(range(1, 11))
