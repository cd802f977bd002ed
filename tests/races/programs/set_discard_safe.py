"""One thread discards something, another adds something else."""

from _shared import run

seen = {1}


def add():
    seen.add(2)


def discard():
    seen.discard(1)


run(add, discard)
