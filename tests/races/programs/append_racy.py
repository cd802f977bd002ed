"""One thread appends, another asks how many there are."""

from _shared import run

jobs = []


def append():
    jobs.append(1)  # at: append


def count():
    return len(jobs)  # at: len


run(append, count)
