"""`+= 1` on a variable of a closure, without a lock."""

import threading
from collections.abc import Callable


def counter() -> tuple[Callable[[], None], Callable[[], int]]:
    value = 0

    def add() -> None:
        nonlocal value
        value += 1

    return add, lambda: value


add, get = counter()

threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert get() == 2
