"""Unpacking exchanges two attributes, with the lock."""

import threading

from _shared import Box, run

box = Box()
box.other = 1
lock = threading.Lock()


def exchange():
    with lock:
        box.value, box.other = box.other, box.value


run(exchange, exchange)
assert {box.value, box.other} == {0, 1}
