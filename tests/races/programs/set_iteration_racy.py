"""One thread adds to a set, another makes a sorted list of it."""

from _shared import run

seen = {1}


def add():
    seen.add(2)  # at: add


def show():
    return sorted(seen)  # at: sorted


run(add, show)
