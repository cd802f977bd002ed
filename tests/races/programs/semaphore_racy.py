"""A semaphore for two lets two in."""

import threading

from _shared import Box, run

box = Box()
room = threading.Semaphore(2)
both_are_in = threading.Barrier(2)


def work():
    with room:
        both_are_in.wait()
        box.value += 1  # at: add


run(work, work)
