"""Two threads set the default of one key: that is one step, and the first wins."""

from _shared import run

settings = {}


def default():
    return settings.setdefault("level", 0)


run(default, default)
assert settings == {"level": 0}
