"""Both threads write the same value: it is a race nevertheless."""

from _shared import Box, run

box = Box()


def mark():
    box.value = True  # at: mark


run(mark, mark)
