"""The parent reads the result of a thread that it has joined."""

import threading

from _shared import Box

box = Box()


def work():
    box.value = 1


thread = threading.Thread(target=work)
thread.start()
thread.join()
assert box.value == 1
