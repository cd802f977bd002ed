"""Two threads put a list into texts."""

from _shared import run

names = ["ann"]


def describe():
    return f"these: {names}" + str(names) + repr(names) + ", ".join(names)


run(describe, describe)
