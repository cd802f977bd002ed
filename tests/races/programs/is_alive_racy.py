"""The result of a thread is read before anybody has seen that it has ended."""

import threading
import time

from _shared import Box

box = Box()


def work():
    box.value = 1  # at: write


thread = threading.Thread(target=work)
thread.start()
assert box.value in (0, 1)  # at: read
while thread.is_alive():
    time.sleep(0.001)
