"""Two threads write the same attribute of two objects of one class."""

from _shared import Box, run

left = Box()
right = Box()


def write_left():
    left.value = 1


def write_right():
    right.value = 2


run(write_left, write_right)
