"""A module is imported by two threads, and both change a variable of it."""

from _shared import run


def use():
    import _imported

    _imported.uses += 1  # at: use


run(use, use)
