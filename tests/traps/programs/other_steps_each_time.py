"""Chance from outside decides what the threads do; whatever that is, it is right."""

import ctypes
import threading

library = ctypes.CDLL(None)
drawn = ctypes.create_string_buffer(1)
assert library.getrandom(drawn, 1, 0) == 1
lock = threading.Lock()
value = 0


def add() -> None:
    global value
    for _ in range(drawn.raw[0] % 64):
        with lock:
            value += 1


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
