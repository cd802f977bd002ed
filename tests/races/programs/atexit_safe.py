"""What is called at exit comes after the end of all threads that are no daemons."""

import atexit
import threading

from _shared import Box

box = Box()


def work():
    box.value = 1


@atexit.register
def at_end():
    assert box.value == 1


threading.Thread(target=work).start()
