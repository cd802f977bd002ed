"""A race in a thread pool of multiprocessing."""

from multiprocessing.pool import ThreadPool

value = 0


def add(_: int) -> None:
    global value
    seen = value
    value = seen + 1


with ThreadPool(2) as pool:
    pool.map(add, range(2), chunksize=1)
assert value == 2
