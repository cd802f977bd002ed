"""The program has hooks of its own for exceptions, which say nothing."""

import sys
import threading

sys.excepthook = lambda *args: None
threading.excepthook = lambda args: None
value = 0
both = threading.Barrier(2)


def work() -> None:
    global value
    seen = value
    value = seen + 1
    both.wait()
    if value != 2:
        raise ValueError("one is lost")


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
