"""One thread deletes an attribute, another writes it."""

from _shared import Box, run

box = Box()
box.extra = 1


def delete():
    del box.extra  # at: delete


def write():
    box.value = 1
    box.extra = 2  # at: write


run(delete, write)
