"""Each thread adds to a variable of the call that made it: two calls, two variables."""

from _shared import run


def adder():
    count = 0

    def add():
        nonlocal count
        for _ in range(20):
            count += 1

    return add


run(adder(), adder())
