"""A lock that one thread takes and another releases, as a signal: sent too early."""

import threading

from _shared import Box

box = Box()
lock = threading.Lock()


def work():
    lock.release()
    box.value = 1  # at: write


lock.acquire()
thread = threading.Thread(target=work)
thread.start()
lock.acquire()
assert box.value in (0, 1)  # at: read
lock.release()
thread.join()
