"""Each account has a lock; a transfer holds that of one account and changes both."""

import threading


class Account:
    def __init__(self):
        self.lock = threading.Lock()
        self.balance = 10


def transfer(source, target):
    with source.lock:
        source.balance -= 1  # at: take
        target.balance += 1  # at: give


left = Account()
right = Account()
threads = [
    threading.Thread(target=transfer, args=(left, right)),
    threading.Thread(target=transfer, args=(right, left)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
