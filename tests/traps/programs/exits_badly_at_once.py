"""The process ends in the middle, with exit code 5, under some schedules."""

import os
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
    os._exit(5)
