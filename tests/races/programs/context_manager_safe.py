"""A context manager holds the lock, and a stack of them another one."""

import threading
from contextlib import ExitStack, contextmanager

from _shared import Box, run

box = Box()
other = Box()
lock = threading.Lock()
second = threading.Lock()


@contextmanager
def guarded():
    with lock:
        yield box


def work():
    with ExitStack() as stack:
        found = stack.enter_context(guarded())
        stack.enter_context(second)
        found.value += 1
        other.value += 1


run(work, work)
assert box.value == other.value == 2
