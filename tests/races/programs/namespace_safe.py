"""A SimpleNamespace in which each thread has a field."""

from types import SimpleNamespace

from _shared import run

settings = SimpleNamespace(level=0, depth=0)


def write_level():
    settings.level += 1


def write_depth():
    settings.depth += 1


run(write_level, write_depth)
