"""Each thread of a pool is initialised, and that writes one attribute for all."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
both_are_here = threading.Barrier(2)


def prepare():
    both_are_here.wait()
    box.value += 1  # at: add


def work():
    pass


with ThreadPoolExecutor(2, initializer=prepare) as pool:
    pool.submit(work)
    pool.submit(work)
