"""What a task wrote is read before its result was asked for."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()


def work():
    box.value = 1  # at: write


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(work)
    assert box.value in (0, 1)  # at: read
    future.result()
