"""The wait for a thread's end is repeated until it has ended."""

import threading
import time

from _shared import Box

box = Box()


def work():
    time.sleep(0.005)
    box.value = 1


thread = threading.Thread(target=work)
thread.start()
while thread.is_alive():
    thread.join(timeout=0.001)
assert box.value == 1
