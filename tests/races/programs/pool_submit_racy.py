"""What is written after a task was submitted, the task may see or not."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
has_begun = threading.Event()


def work():
    has_begun.set()
    return box.value  # at: read


with ThreadPoolExecutor(1) as pool:
    pool.submit(work)
    has_begun.wait()
    box.value = 1  # at: write
