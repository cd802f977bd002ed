"""Each thread of a pool is initialised with what is its own."""

import threading
from concurrent.futures import ThreadPoolExecutor

from _shared import Box

own = threading.local()


def prepare():
    own.box = Box()


def work():
    own.box.value += 1
    return own.box.value


with ThreadPoolExecutor(2, initializer=prepare) as pool:
    assert all(pool.submit(work).result() > 0 for _ in range(4))
