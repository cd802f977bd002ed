"""A pool that is shut down without waiting may still be at work."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
has_begun = threading.Event()


def work():
    has_begun.set()
    box.value = 1  # at: write


pool = ThreadPoolExecutor(1)
pool.submit(work)
has_begun.wait()
pool.shutdown(wait=False)
assert box.value in (0, 1)  # at: read
