"""A SimpleNamespace that is everybody's."""

from types import SimpleNamespace

from _shared import run

settings = SimpleNamespace(level=0)


def write():
    settings.level = 1  # at: write


def read():
    return settings.level  # at: read


run(write, read)
