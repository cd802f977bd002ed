"""Two threads add to a global, with the lock."""

import threading

from _shared import run

counter = 0
lock = threading.Lock()


def count():
    global counter
    with lock:
        counter += 1


run(count, count)
assert counter == 2
