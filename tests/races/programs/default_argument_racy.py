"""A list that is the default of a parameter is one for all calls."""

from _shared import run


def remember(value, seen=[]):
    seen.append(value)  # at: append
    return seen


def forget(seen=remember.__defaults__[0]):
    seen.clear()  # at: clear


run(lambda: remember(1), forget)
