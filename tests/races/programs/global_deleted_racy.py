"""One thread deletes a global, another binds it anew."""

from _shared import run

spare = 1
other = 0


def drop():
    global spare
    del spare  # at: delete


def bind():
    global spare, other
    other = 1
    spare = 2  # at: bind


run(drop, bind)
