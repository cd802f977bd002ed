"""A callback reads what the task wrote, and what was written before it was added."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
other = Box()
was_called = threading.Event()


def work():
    box.value = 1


def look(future):
    assert (box.value, other.value) == (1, 2)
    other.value = 3
    was_called.set()


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(work)
    other.value = 2
    future.add_done_callback(look)
    was_called.wait()
    assert other.value == 3
