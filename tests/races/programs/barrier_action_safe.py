"""The action of a barrier sees what all wrote before it, and all see what it wrote."""

import threading

from _shared import Box, run

box = Box()
parts = [0, 0]


def add_up():
    box.value = parts[0] + parts[1]


barrier = threading.Barrier(2, action=add_up)


def worker(index):
    def work():
        parts[index] = index + 1
        barrier.wait()
        assert box.value == 3

    return work


run(worker(0), worker(1))
