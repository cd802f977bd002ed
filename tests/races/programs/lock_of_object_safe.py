"""Each account has a lock; a transfer takes both, in one order for all."""

import threading


class Account:
    def __init__(self, number):
        self.number = number
        self.lock = threading.Lock()
        self.balance = 10


def transfer(source, target):
    first, second = sorted((source, target), key=lambda account: account.number)
    with first.lock, second.lock:
        source.balance -= 1
        target.balance += 1


left = Account(0)
right = Account(1)
threads = [
    threading.Thread(target=transfer, args=(left, right)),
    threading.Thread(target=transfer, args=(right, left)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert left.balance == right.balance == 10
