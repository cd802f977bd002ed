"""What was put onto a stack is changed after that."""

import queue

from _shared import Box, run

stack = queue.LifoQueue()


def produce():
    box = Box()
    stack.put(box)
    box.value = 1  # at: write


def consume():
    return stack.get().value  # at: read


run(produce, consume)
