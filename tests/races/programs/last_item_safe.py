"""The last item is read, and others are appended, with the lock."""

import threading

from _shared import run

cells = [7]
lock = threading.Lock()


def append():
    with lock:
        cells.append(8)


def read():
    with lock:
        return cells[-1]


run(append, read)
