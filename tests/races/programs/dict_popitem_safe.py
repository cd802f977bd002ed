"""Two threads take any items out of a dict, with the lock."""

import threading

from _shared import run

tickets = {"seat": 1, "box": 2}
lock = threading.Lock()


def take():
    with lock:
        return tickets.popitem()


run(take, take)
assert not tickets
