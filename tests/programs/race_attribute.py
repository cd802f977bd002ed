"""Unsynchronised attributes of one object, changed by methods that call each other.

Varies: the final balance and its highest value, the number of broken invariants seen.
"""

import threading


class Account:
    def __init__(self):
        self.balance = 0
        self.entries = 0
        self.highest = 0
        self.broken = 0

    def fee(self, amount):
        return amount // 10

    def deposit(self, amount):
        self.balance = self.balance + amount - self.fee(amount)
        self.entries = self.entries + self.fee(10)
        self.check(amount - self.fee(amount))

    def check(self, step):
        if self.balance != self.entries * step:
            self.broken += 1
        self.highest = max(self.highest, self.balance)


account = Account()


def work():
    for _ in range(150):
        account.deposit(20)


threads = [threading.Thread(target=work) for _ in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("balance", account.balance, "entries", account.entries)
print("highest", account.highest, "broken", account.broken)
