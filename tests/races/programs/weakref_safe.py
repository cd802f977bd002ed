"""The callback of a weak reference, and whoever reads what it wrote, take a lock or join."""

import threading
import weakref

from _shared import Box, run

log = Box()
lock = threading.Lock()


def note(reference):
    with lock:
        log.value += 1


def work():
    box = Box()
    reference = weakref.ref(box, note)
    del box
    assert reference() is None


run(work, work)
assert log.value == 2
