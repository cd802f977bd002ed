"""The program crashes in C code under some schedules."""

import ctypes
import threading

value = 0


def add() -> None:
    global value
    seen = value
    value = seen + 1


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if value != 2:
    ctypes.string_at(0)
