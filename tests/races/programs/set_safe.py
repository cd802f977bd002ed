"""Two threads add to a set, the same and others; one looks for what was there before."""

from _shared import run

seen = {0}


def adder(number):
    def add():
        seen.add(number)
        seen.add(7)
        return 0 in seen

    return add


run(adder(1), adder(2))
assert seen == {0, 1, 2, 7}
