"""A loop binds a local of a name that a global has as well."""

from _shared import run

current = 0


def loop():
    for current in (1, 2, 3):
        pass
    return current


def read():
    return current


run(loop, read)
