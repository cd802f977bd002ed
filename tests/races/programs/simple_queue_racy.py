"""What was put into a queue of C is changed after that."""

import queue

from _shared import Box, run

inbox = queue.SimpleQueue()


def produce():
    box = Box()
    inbox.put(box)
    box.value = 1  # at: write


def consume():
    return inbox.get().value  # at: read


run(produce, consume)
