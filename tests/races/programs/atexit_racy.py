"""What is called at exit does not wait for daemon threads."""

import atexit
import threading

from _shared import Box

box = Box()
is_done = threading.Event()


def work():
    box.value = 1  # at: write
    is_done.set()


@atexit.register
def at_end():
    assert box.value in (0, 1)  # at: read
    is_done.wait()


threading.Thread(target=work, daemon=True).start()
