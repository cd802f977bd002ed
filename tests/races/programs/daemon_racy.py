"""A daemon thread goes on writing after it said that it had begun."""

import threading

from _shared import Box

box = Box()
has_begun = threading.Event()
is_done = threading.Event()


def work():
    has_begun.set()
    box.value = 1  # at: write
    is_done.set()


threading.Thread(target=work, daemon=True).start()
has_begun.wait()
assert box.value in (0, 1)  # at: read
is_done.wait()
