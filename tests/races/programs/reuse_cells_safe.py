"""Variables of functions that come and go lie where others have been."""

from _shared import run


def make():
    count = 0

    def add():
        nonlocal count
        count += 1
        return count

    return add


def work():
    for _ in range(200):
        add = make()
        assert add() + add() == 3


run(work, work)
