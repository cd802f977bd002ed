"""One thread discards what another adds."""

from _shared import run

seen = {1}


def add():
    seen.add(2)  # at: add


def discard():
    seen.discard(2)  # at: discard


run(add, discard)
