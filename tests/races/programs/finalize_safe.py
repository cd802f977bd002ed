"""weakref.finalize calls, at exit, what sees all that threads did that were never joined."""

import threading
import weakref

from _shared import Box

log = Box()
kept = Box()


def work():
    log.value = 1


def note():
    assert log.value == 1


weakref.finalize(kept, note)
threading.Thread(target=work).start()
