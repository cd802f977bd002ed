"""One thread adds to a set what another looks for."""

from _shared import run

seen = {1}


def add():
    seen.add(2)  # at: add


def look():
    return 2 in seen  # at: in


run(add, look)
