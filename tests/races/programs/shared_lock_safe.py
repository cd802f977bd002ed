"""A lock for readers and writers, made of a condition."""

import threading

from _shared import Box, run

box = Box()


class SharedLock:
    def __init__(self):
        self.changed = threading.Condition()
        self.readers = 0
        self.is_written = False

    def enter_reader(self):
        with self.changed:
            while self.is_written:
                self.changed.wait()
            self.readers += 1

    def leave_reader(self):
        with self.changed:
            self.readers -= 1
            self.changed.notify_all()

    def enter_writer(self):
        with self.changed:
            while self.is_written or self.readers:
                self.changed.wait()
            self.is_written = True

    def leave_writer(self):
        with self.changed:
            self.is_written = False
            self.changed.notify_all()


lock = SharedLock()


def write():
    for _ in range(3):
        lock.enter_writer()
        box.value += 1
        lock.leave_writer()


def read():
    for _ in range(3):
        lock.enter_reader()
        assert 0 <= box.value <= 6
        lock.leave_reader()


run(write, read, read, write)
assert box.value == 6
