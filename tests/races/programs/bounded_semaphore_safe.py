"""A pool of two connections: who has one has it alone."""

import threading

from _shared import Box, run

free = [Box(), Box()]
lock = threading.Lock()
available = threading.BoundedSemaphore(2)


def work():
    for _ in range(4):
        with available:
            with lock:
                connection = free.pop()
            connection.value += 1
            with lock:
                free.append(connection)


run(work, work, work)
assert sum(connection.value for connection in free) == 12
