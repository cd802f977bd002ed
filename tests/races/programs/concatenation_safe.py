"""Two threads make new lists of two that nobody changes, and change those."""

from _shared import run

left = [1, 2]
right = [1, 2]


def together():
    own = left + right * 2
    own.append(3)
    return own


run(together, together)
