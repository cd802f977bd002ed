"""What was wrong shows only in a function that runs as the program ends."""

import atexit
import threading

value = 0


def add() -> None:
    global value
    seen = value
    value = seen + 1


@atexit.register
def check() -> None:
    assert value == 2


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
