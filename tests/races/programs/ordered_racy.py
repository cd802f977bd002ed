"""One thread moves a key of an OrderedDict to the end, another takes what is last."""

from collections import OrderedDict

from _shared import run

recent = OrderedDict(a=1, b=2, c=3)


def touch():
    recent.move_to_end("a")  # at: move


def evict():
    return recent.popitem()  # at: popitem


run(touch, evict)
