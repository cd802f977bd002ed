"""Of two tasks the first to be done is waited for; what both wrote is read."""

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

cells = [0, 0]
may_end = threading.Event()


def quick():
    cells[0] = 1


def slow():
    cells[1] = 1  # at: write
    may_end.wait()


with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(slow), pool.submit(quick)]
    wait(futures, return_when=FIRST_COMPLETED)
    assert cells[1] in (0, 1)  # at: read
    may_end.set()
