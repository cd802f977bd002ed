"""One thread updates a dict from another, a second one reads a key."""

from _shared import run

settings = {"level": 0}


def load():
    settings.update({"level": 1})  # at: update


def read():
    return settings["level"]  # at: read


run(load, read)
