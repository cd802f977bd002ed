"""A time-out that passes between `notify` and waking up: the item is there, and is not taken."""

import threading

condition = threading.Condition()
items: list[int] = []
taken: list[int] = []


def take() -> None:
    with condition:
        if not items and not condition.wait(0.1):
            return  # nothing came, or so it thinks
        taken.append(items.pop())


def give() -> None:
    with condition:
        items.append(1)
        condition.notify()


threads = [threading.Thread(target=take), threading.Thread(target=give)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert taken == [1]
