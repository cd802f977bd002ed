"""Threads hold two locks, of which they have one in common."""

import threading

from _shared import Box, run

box = Box()
one = threading.Lock()
other = threading.Lock()


def with_one():
    with one:
        box.value += 1


def with_both():
    with one, other:
        box.value += 2


run(with_one, with_both, with_one)
assert box.value == 4
