"""A callback reads, in the pool's thread, what is written after the task was let go."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
may_end = threading.Event()


def look(future):
    assert box.value in (0, 1)  # at: read


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(may_end.wait)
    future.add_done_callback(look)
    may_end.set()
    box.value = 1  # at: write
