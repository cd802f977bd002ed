"""Objects count themselves as they go, with a lock."""

import threading

from _shared import Box, run

gone = Box()
lock = threading.Lock()


class Resource:
    def __del__(self):
        with lock:
            gone.value += 1


def work():
    resource = Resource()
    del resource


run(work, work)
assert gone.value == 2
