"""A callback reads, in the pool's thread, what is written after the task was let go."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
has_begun = threading.Event()
may_end = threading.Event()


def work():
    has_begun.set()
    may_end.wait()


def look(future):
    assert box.value in (0, 1)  # at: read


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(work)
    future.add_done_callback(look)
    has_begun.wait()
    may_end.set()
    box.value = 1  # at: write
