"""Locks come and go, and with them what they guard."""

import threading

from _shared import Box, run


def add(box, lock):
    with lock:
        box.value += 1


def work():
    for _ in range(20):
        box = Box()
        lock = threading.Lock()
        add(box, lock)
        add(box, lock)


run(work, work)
