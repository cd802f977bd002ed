"""One thread adds to a set, another, having joined it, makes a sorted list of it."""

from _shared import run

seen = {1}


def add():
    seen.add(2)


def show():
    return sorted(seen)


run(add)
run(show, show)
