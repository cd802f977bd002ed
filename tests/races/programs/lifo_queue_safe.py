"""What is taken from a stack, by whomever, has been written before it was put there."""

import queue

from _shared import Box, run

stack = queue.LifoQueue()


def produce():
    for number in range(4):
        box = Box()
        box.value = number
        stack.put(box)


def consume():
    for _ in range(2):
        box = stack.get()
        box.value += 1


run(consume, produce, consume)
