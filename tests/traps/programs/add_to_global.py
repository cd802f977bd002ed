"""`+= 1` on a global, without a lock."""

import threading

value = 0


def add() -> None:
    global value
    value += 1


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert value == 2
