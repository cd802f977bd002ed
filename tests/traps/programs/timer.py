"""A timer, and a cancellation that may come too late."""

import threading
import time

value = 0


def work() -> None:
    global value
    value += 1


timer = threading.Timer(0.01, work)
timer.start()
time.sleep(0.01)
timer.cancel()
timer.join()
assert value == 0
