"""`+= 1` on an item of a list, without a lock."""

import threading

values = [0]


def add() -> None:
    values[0] += 1


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert values[0] == 2
