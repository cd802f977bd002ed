"""Objects are made by one thread and dropped by another; new ones lie where those have been."""

import queue

from _shared import Box, run

there = queue.SimpleQueue()


def produce():
    for number in range(200):
        box = Box()
        box.value = number
        there.put((box, [number], {"key": number}))
        del box
    there.put(None)


def consume():
    while (found := there.get()) is not None:
        box, numbers, names = found
        box.value += 1
        numbers.append(box.value)
        names["key"] += 1
        del box, numbers, names, found


run(produce, consume)
