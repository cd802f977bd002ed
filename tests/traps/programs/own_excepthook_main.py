"""The main thread fails, and the program's own hook says nothing."""

import sys
import threading

sys.excepthook = lambda *args: None
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
assert value == 2
