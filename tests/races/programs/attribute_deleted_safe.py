"""One thread deletes an attribute, another writes an attribute of another name."""

from _shared import Box, run

box = Box()
box.extra = 1


def delete():
    del box.extra


def write():
    box.value = 1


run(delete, write)
