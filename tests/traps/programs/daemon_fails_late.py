"""A daemon thread fails, after the main thread has come to its end."""

import threading
import time

value = 0


def add() -> None:
    global value
    seen = value
    value = seen + 1


def watch() -> None:
    while not ended:
        time.sleep(0.01)
    if value != 2:
        raise ValueError("one is lost")


ended = False
threading.Thread(target=watch, daemon=True).start()
threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ended = True
