"""One thread looks for a key in a dict, another puts another one in."""

from _shared import run

names = {"ann": 1}


def look():
    return "ann" in names, "bob" not in names


def enter():
    names["cem"] = 1


run(look, enter)
