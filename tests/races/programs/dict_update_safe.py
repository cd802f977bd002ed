"""A dict is updated before those start who read it; each makes a new one of it."""

from _shared import run

settings = {"level": 0}
settings.update({"level": 1})


def read():
    own = settings | {"depth": 2}
    own.update(settings)
    own["level"] = 5
    return own


run(read, read)
