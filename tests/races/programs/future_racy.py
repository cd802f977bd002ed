"""What a task wrote is read before its result was asked for."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
has_begun = threading.Event()


def work():
    has_begun.set()
    box.value = 1  # at: write


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(work)
    has_begun.wait()
    assert box.value in (0, 1)  # at: read
    future.result()
