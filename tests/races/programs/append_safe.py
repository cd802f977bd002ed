"""Two threads append to one list and extend it: each does so in one step, in either order."""

from _shared import run

jobs = []


def append():
    for number in range(10):
        jobs.append(number)


def extend():
    jobs.extend((1, 2, 3))
    own = jobs
    own += [4, 5]


run(append, extend, append)
assert len(jobs) == 25
