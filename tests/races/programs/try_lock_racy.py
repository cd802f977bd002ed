"""The lock could not be taken, and the thread goes on as if it had it."""

import threading

from _shared import Box

box = Box()
lock = threading.Lock()
has_tried = threading.Event()


def work():
    assert not lock.acquire(blocking=False)
    box.value = 1  # at: work
    has_tried.set()


with lock:
    thread = threading.Thread(target=work)
    thread.start()
    box.value = 2  # at: main
    has_tried.wait()
thread.join()
