"""`+= 1` on an attribute, without a lock."""

import threading


class Account:
    def __init__(self) -> None:
        self.value = 0


account = Account()


def add() -> None:
    account.value += 1


threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert account.value == 2
