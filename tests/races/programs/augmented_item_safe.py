"""Two threads add to two values in a dict; no key is new."""

from _shared import run

totals = {"a": 0, "b": 0}


def adder(key):
    def add():
        for _ in range(20):
            totals[key] += 1

    return add


run(adder("a"), adder("b"))
assert totals == {"a": 20, "b": 20}
