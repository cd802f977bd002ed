"""One thread deletes a global, another binds another one."""

from _shared import run

spare = 1
other = 0


def drop():
    global spare
    del spare


def bind():
    global other
    other = 1


run(drop, bind)
