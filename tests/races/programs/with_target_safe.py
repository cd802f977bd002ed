"""`with` binds an attribute of the thread's own object, and a local."""

from contextlib import nullcontext

from _shared import Box, run

box = Box()


def enter():
    own = Box()
    with nullcontext(7) as own.value, nullcontext(8) as value:
        return own.value + value + box.value


run(enter, enter)
