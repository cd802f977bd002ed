"""A daemon thread that is never joined says when its result is there."""

import threading

from _shared import Box

box = Box()
is_done = threading.Event()


def work():
    box.value = 1
    is_done.set()


threading.Thread(target=work, daemon=True).start()
is_done.wait()
assert box.value == 1
