"""A thread that is no longer alive has done all that it does."""

import threading
import time

from _shared import Box

box = Box()


def work():
    box.value = 1


thread = threading.Thread(target=work)
thread.start()
while thread.is_alive():
    time.sleep(0.001)
assert box.value == 1
