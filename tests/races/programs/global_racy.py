"""Two threads add to a global."""

from _shared import run

counter = 0


def count():
    global counter
    counter += 1  # at: count


run(count, count)
