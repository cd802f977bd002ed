"""One thread sets a default, another the value."""

from _shared import run

settings = {}


def default():
    return settings.setdefault("level", 0)  # at: default


def write():
    settings["level"] = 1  # at: write


run(default, write)
