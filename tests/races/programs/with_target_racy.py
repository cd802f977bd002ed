"""`with` binds an attribute that another thread reads."""

from contextlib import nullcontext

from _shared import Box, run

box = Box()


def enter():
    with nullcontext(7) as box.value:  # at: with
        pass


def read():
    return box.value  # at: read


run(enter, read)
