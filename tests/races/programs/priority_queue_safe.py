"""What is taken from a priority queue has been written before it was put there."""

import queue

from _shared import Box, run

tasks = queue.PriorityQueue()


def produce():
    for number in range(4):
        box = Box()
        box.value = number
        tasks.put((4 - number, box))


def consume():
    for _ in range(4):
        _, box = tasks.get()
        box.value += 1


run(produce, consume)
