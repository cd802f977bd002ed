"""The program kills itself by a signal under some schedules."""

import os
import signal
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
    os.kill(os.getpid(), signal.SIGKILL)
