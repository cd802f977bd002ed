"""What a task wrote is read when its result, or its exception, has come."""

from concurrent.futures import ThreadPoolExecutor

from _shared import Box

box = Box()


def work():
    box.value += 1
    return box.value


def fail():
    box.value += 1
    raise ValueError("wanted")


with ThreadPoolExecutor(2) as pool:
    assert pool.submit(work).result() == box.value
    assert isinstance(pool.submit(fail).exception(), ValueError)
    box.value += 1
    assert pool.submit(work).result() == 4
