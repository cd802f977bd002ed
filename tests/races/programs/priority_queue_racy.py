"""What was put into a priority queue is changed after that."""

import queue

from _shared import Box, run

tasks = queue.PriorityQueue()


def produce():
    box = Box()
    tasks.put((1, box))
    box.value = 1  # at: write


def consume():
    return tasks.get()[1].value  # at: read


run(produce, consume)
