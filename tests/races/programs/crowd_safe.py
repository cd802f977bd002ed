"""More threads at once than a word has bits, each with its own object and one lock for all."""

import threading

from _shared import Box, run

box = Box()
lock = threading.Lock()


def work():
    own = Box()
    own.value += 1
    with lock:
        box.value += own.value


run(*[work] * 70)
assert box.value == 70
