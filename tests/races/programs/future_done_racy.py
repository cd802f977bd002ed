"""A task is asked whether it is done, says no, and is taken for done."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
has_begun = threading.Event()
may_end = threading.Event()


def work():
    has_begun.set()
    box.value = 1  # at: write
    may_end.wait()


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(work)
    has_begun.wait()
    assert not future.done()
    assert box.value in (0, 1)  # at: read
    may_end.set()
