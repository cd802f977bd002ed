# reenact-test: deadlock=yes
"""A thread takes a non-reentrant Lock twice, through a method that calls another.

Never ends, after some rounds by other threads that do it right.
"""

import threading


class Account:
    def __init__(self):
        self.lock = threading.Lock()
        self.balance = 0

    def add(self, amount):
        with self.lock:
            self.balance += amount

    def add_twice(self, amount):
        with self.lock:
            self.add(amount)
            self.add(amount)


account = Account()
careful = [threading.Thread(target=account.add, args=(n,)) for n in range(5)]
for thread in careful:
    thread.start()
for thread in careful:
    thread.join()
print("balance", account.balance, flush=True)
account.add_twice(1)
print("never printed")
