"""One thread asks whether an attribute is there after it has joined the one that sets it."""

import threading

from _shared import Box

box = Box()


def write():
    box.extra = 1


thread = threading.Thread(target=write)
thread.start()
thread.join()
assert hasattr(box, "extra")
