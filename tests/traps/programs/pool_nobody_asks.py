"""A race in tasks of a thread pool; the exception stays in a result that nobody asks for."""

import threading
from multiprocessing.pool import ThreadPool

value = 0
both = threading.Barrier(2)


def work() -> None:
    global value
    seen = value
    value = seen + 1
    both.wait()
    if value != 2:
        raise ValueError("one is lost")


with ThreadPool(2) as pool:
    results = [pool.apply_async(work) for _ in range(2)]
    pool.close()
    pool.join()
