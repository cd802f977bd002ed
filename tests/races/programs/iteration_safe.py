"""One thread goes through a list in a loop, another appends, each with the lock all the while."""

import threading

from _shared import run

events = [1, 2, 3]
lock = threading.Lock()


def walk():
    total = 0
    with lock:
        for event in events:
            total += event
    return total


def append():
    with lock:
        events.append(4)


run(walk, append)
