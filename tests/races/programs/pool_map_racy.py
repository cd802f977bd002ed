"""Two tasks of one map add to one attribute, in two threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()
both_are_here = threading.Barrier(2)


def work(number):
    both_are_here.wait()
    box.value += number  # at: add


with ThreadPoolExecutor(2) as pool:
    list(pool.map(work, (1, 2)))
