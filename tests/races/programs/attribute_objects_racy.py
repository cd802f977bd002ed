"""Two threads write through two names; both names mean one object."""

from _shared import Box, run

left = Box()
right = left


def write_left():
    left.value = 1  # at: left


def write_right():
    right.value = 2  # at: right


run(write_left, write_right)
