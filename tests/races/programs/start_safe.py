"""What the parent has written before it starts the thread, the thread sees."""

import threading

from _shared import Box

box = Box()


def work():
    assert box.value == 1


thread = threading.Thread(target=work)
box.value = 1
thread.start()
thread.join()
