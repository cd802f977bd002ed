"""A notification that comes before anybody waits: then all wait for ever."""

import threading

condition = threading.Condition()


def wait() -> None:
    with condition:
        condition.wait()


def wake() -> None:
    with condition:
        condition.notify()


threads = [threading.Thread(target=wait), threading.Thread(target=wake)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
