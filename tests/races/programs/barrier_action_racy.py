"""The action of a barrier sums up while a thread that did not wait goes on writing."""

import threading

from _shared import Box, run

box = Box()


def add_up():
    return box.value  # at: action


barrier = threading.Barrier(2, action=add_up)


def write():
    box.value = 1  # at: write


run(barrier.wait, barrier.wait, write)
