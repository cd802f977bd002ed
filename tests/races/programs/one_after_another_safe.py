"""Many threads, each of which is joined before the next one is started."""

import threading

from _shared import Box

box = Box()


def work():
    box.value += 1


for _ in range(100):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
assert box.value == 100
