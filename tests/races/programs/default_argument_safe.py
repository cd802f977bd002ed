"""Each call has a list of its own."""

from _shared import run


def remember(value, seen=None):
    seen = [] if seen is None else seen
    seen.append(value)
    return len(seen)


run(lambda: remember(1), lambda: remember(2))
