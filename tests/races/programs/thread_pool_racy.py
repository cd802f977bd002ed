"""multiprocessing's pool of threads: the value is written after the task was given to it."""

from multiprocessing.pool import ThreadPool

from _shared import Box

box = Box()


def work():
    return box.value  # at: read


with ThreadPool(1) as pool:
    result = pool.apply_async(work)
    box.value = 1  # at: write
    result.get()
