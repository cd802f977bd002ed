"""One thread looks for a value in a list, another appends."""

from _shared import run

names = ["ann", "bob"]


def look():
    return "cem" in names  # at: in


def append():
    names.append("cem")  # at: append


run(look, append)
