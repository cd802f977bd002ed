"""One thread asks whether there is anything in a list, another appends."""

from _shared import run

jobs = []


def state():
    if jobs:  # at: if
        return "busy"
    return "idle"


def append():
    jobs.append(1)  # at: append


run(state, append)
