"""A context manager lets go of the lock before the body begins."""

import threading
from contextlib import contextmanager

from _shared import Box, run

box = Box()
lock = threading.Lock()


@contextmanager
def guarded():
    with lock:
        pass
    yield box


def work():
    with guarded() as found:
        found.value = 1  # at: write


run(work, work)
