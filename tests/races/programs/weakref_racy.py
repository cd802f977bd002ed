"""The callback of a weak reference runs in whichever thread drops the object."""

import threading
import weakref

from _shared import Box

log = Box()


def note(reference):
    log.value += 1  # at: callback


def work():
    box = Box()
    reference = weakref.ref(box, note)
    del box
    assert reference() is None


thread = threading.Thread(target=work)
thread.start()
assert log.value in (0, 1)  # at: read
thread.join()
