"""A pool that is shut down without waiting may still be at work."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()


def work():
    box.value = 1  # at: write


pool = ThreadPoolExecutor(1)
pool.submit(work)
pool.shutdown(wait=False)
assert box.value in (0, 1)  # at: read
