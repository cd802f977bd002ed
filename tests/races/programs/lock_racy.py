"""Each thread holds a lock, but not the same one."""

import threading

from _shared import Box, run

box = Box()
one = threading.Lock()
other = threading.Lock()


def with_one():
    with one:
        box.value = 1  # at: one


def with_other():
    with other:
        box.value = 2  # at: other


run(with_one, with_other)
