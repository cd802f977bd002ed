"""A thread starts another, and that one a third; each joins what it has started."""

import threading

from _shared import Box

box = Box()
box.value = 1


def nest(depth):
    box.value += 1
    if depth > 0:
        thread = threading.Thread(target=nest, args=(depth - 1,))
        thread.start()
        thread.join()
        box.value += 1


nest(4)
assert box.value == 10
