"""A queue is looked into without waiting, in vain; what should have come is used all the same."""

import queue
import threading

from _shared import Box

box = Box()
inbox = queue.SimpleQueue()
has_looked = threading.Event()


def produce():
    box.value = 1  # at: write
    has_looked.wait()
    inbox.put("ready")


thread = threading.Thread(target=produce)
thread.start()
try:
    inbox.get_nowait()
except queue.Empty:
    pass
assert box.value in (0, 1)  # at: read
has_looked.set()
thread.join()
