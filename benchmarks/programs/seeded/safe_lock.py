"""Safe: a global and an attribute, always with the same lock."""

import threading

counter = 0
lock = threading.Lock()


class Account:
    """Money."""

    def __init__(self) -> None:
        self.balance = 0


account = Account()


def count() -> None:
    """All within the lock."""
    global counter
    for _ in range(200):
        with lock:
            counter += 1
            account.balance += 1


threads = [threading.Thread(target=count) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counter", counter, account.balance)
