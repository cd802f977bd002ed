"""Loops over pairs, backwards and side by side, in two threads that change nothing."""

from _shared import run

events = [1, 2, 3]


def walk():
    total = 0
    for index, event in enumerate(events):
        total += index * event
    for first, second in zip(events, reversed(events), strict=True):
        total += first * second
    return total


run(walk, walk)
