"""What is put into a queue is no longer touched by who put it there."""

import queue

from _shared import Box, run

inbox = queue.Queue(maxsize=2)


def produce():
    for number in range(6):
        box = Box()
        box.value = number
        inbox.put(box)
    inbox.put(None)


def consume():
    number = 0
    while (box := inbox.get()) is not None:
        assert box.value == number
        box.value += 1
        number += 1


run(produce, consume)
