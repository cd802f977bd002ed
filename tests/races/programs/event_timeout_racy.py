"""The wait for the event timed out, and the value is used as if it had not."""

import threading

from _shared import Box

box = Box()
ready = threading.Event()


def produce():
    box.value = 1  # at: write


thread = threading.Thread(target=produce)
thread.start()
assert not ready.wait(timeout=0.001)
assert box.value in (0, 1)  # at: read
thread.join()
