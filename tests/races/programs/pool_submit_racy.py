"""What is written after a task was submitted, the task may see or not."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()


def work():
    return box.value  # at: read


with ThreadPoolExecutor(1) as pool:
    pool.submit(work)
    box.value = 1  # at: write
