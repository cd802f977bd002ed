"""A lock for readers and writers: two who write have come in as readers."""

import threading

from _shared import Box, run

box = Box()
both_are_in = threading.Barrier(2)


class SharedLock:
    def __init__(self):
        self.changed = threading.Condition()
        self.readers = 0

    def enter(self):
        with self.changed:
            self.readers += 1

    def leave(self):
        with self.changed:
            self.readers -= 1
            self.changed.notify_all()


lock = SharedLock()


def write():
    lock.enter()
    both_are_in.wait()
    box.value += 1  # at: add
    lock.leave()


run(write, write)
