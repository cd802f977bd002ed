"""Two threads add to one value in a dict."""

from _shared import run

totals = {"a": 0, "b": 0}


def add():
    totals["a"] += 1  # at: add


run(add, add)
