"""One thread goes through a list in a loop, another appends."""

from _shared import run

events = [1, 2, 3]


def walk():
    total = 0
    for event in events:  # at: for
        total += event
    return total


def append():
    events.append(4)  # at: append


run(walk, append)
