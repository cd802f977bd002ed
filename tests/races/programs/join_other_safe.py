"""One thread joins another, and the parent joins that one only: it knows of both."""

import threading

from _shared import Box

box = Box()


def work():
    box.value = 1


def wait():
    worker.join()


worker = threading.Thread(target=work)
other = threading.Thread(target=wait)
worker.start()
other.start()
other.join()
assert box.value == 1
