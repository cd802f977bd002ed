"""A task is asked until it is done."""

import time
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()


def work():
    box.value = 1


with ThreadPoolExecutor(1) as pool:
    future = pool.submit(work)
    while not future.done():
        time.sleep(0.001)
    assert box.value == 1
