"""A class method counts in the class, for two threads."""

from _shared import run


class Job:
    made = 0

    @classmethod
    def count(cls):
        cls.made += 1  # at: count


run(Job.count, Job.count)
