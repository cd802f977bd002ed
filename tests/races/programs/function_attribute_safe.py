"""A function keeps its count in an attribute of its own, and holds a lock meanwhile."""

import threading

from _shared import run


def hit():
    with hit.lock:
        hit.count += 1


hit.count = 0
hit.lock = threading.Lock()
run(hit, hit)
