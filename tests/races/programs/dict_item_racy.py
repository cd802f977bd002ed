"""Check, then act: two threads look for one key, and put it in if it is not there."""

from _shared import run

cache = {}


def fill():
    if "key" not in cache:  # at: check
        cache["key"] = 1  # at: act


run(fill, fill)
