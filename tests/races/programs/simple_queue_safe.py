"""What is put into a queue of C is no longer touched, and comes back in another one."""

import queue

from _shared import Box, run

there = queue.SimpleQueue()
back = queue.SimpleQueue()


def produce():
    for number in range(4):
        box = Box()
        box.value = number
        there.put(box)
        assert back.get().value == number + 1


def consume():
    for _ in range(4):
        box = there.get()
        box.value += 1
        back.put(box)


run(produce, consume)
