"""The wait for a thread's end times out, and its result is read nevertheless."""

import threading

from _shared import Box

box = Box()
may_end = threading.Event()


def work():
    box.value = 1  # at: write
    may_end.wait()


thread = threading.Thread(target=work)
thread.start()
thread.join(timeout=0.001)
assert box.value in (0, 1)  # at: read
may_end.set()
thread.join()
