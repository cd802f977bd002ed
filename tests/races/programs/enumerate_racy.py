"""A loop over pairs of number and item, while another thread empties the list."""

from _shared import run

events = [1, 2, 3]


def walk():
    total = 0
    for index, event in enumerate(events):  # at: for
        total += index * event
    return total


def clear():
    events.clear()  # at: clear


run(walk, clear)
