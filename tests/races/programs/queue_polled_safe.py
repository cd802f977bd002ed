"""A queue is looked into without waiting until there is something."""

import queue
import threading
import time

from _shared import Box

box = Box()
inbox = queue.SimpleQueue()


def produce():
    box.value = 1
    inbox.put("ready")


thread = threading.Thread(target=produce)
thread.start()
while True:
    try:
        inbox.get_nowait()
        break
    except queue.Empty:
        time.sleep(0.001)
assert box.value == 1
thread.join()
