"""A pool that was shut down has done all that it does."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()


def work():
    box.value = 1


pool = ThreadPoolExecutor(1)
pool.submit(work)
pool.shutdown()
assert box.value == 1
