"""What the parent writes after it has started the thread, the thread may see or not."""

import threading

from _shared import Box

box = Box()


def work():
    return box.value  # at: read


thread = threading.Thread(target=work)
thread.start()
box.value = 1  # at: write
thread.join()
