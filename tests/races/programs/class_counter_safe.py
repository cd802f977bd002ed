"""A class method counts in the class, with the lock of the class."""

import threading

from _shared import run


class Job:
    made = 0
    lock = threading.Lock()

    @classmethod
    def count(cls):
        with cls.lock:
            cls.made += 1


run(Job.count, Job.count)
