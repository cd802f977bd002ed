"""A race in tasks of a pool; the exception stays in a future that nobody asks."""

import threading
from concurrent.futures import ThreadPoolExecutor

value = 0
both = threading.Barrier(2)


def work() -> None:
    global value
    seen = value
    value = seen + 1
    both.wait()
    if value != 2:
        raise ValueError("one is lost")


with ThreadPoolExecutor(2) as pool:
    for _ in range(2):
        pool.submit(work)
