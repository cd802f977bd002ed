"""A race in threads that threads start."""

import threading

value = 0


def add() -> None:
    global value
    seen = value
    value = seen + 1


def start_one() -> None:
    inner = threading.Thread(target=add)
    inner.start()
    inner.join()


threads = [threading.Thread(target=start_one) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert value == 2
