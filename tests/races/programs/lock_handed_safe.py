"""A lock that one thread takes and another releases, as a signal that the value is there."""

import threading

from _shared import Box

box = Box()
lock = threading.Lock()


def work():
    box.value = 1
    lock.release()


lock.acquire()
thread = threading.Thread(target=work)
thread.start()
lock.acquire()
assert box.value == 1
lock.release()
thread.join()
