"""A bank whose teller threads transfer money and whose auditor adds up, with one lock."""

import threading

from _shared import run


class Bank:
    def __init__(self):
        self.lock = threading.Lock()
        self.balances = {"ann": 100, "bob": 100}
        self.log = []

    def transfer(self, source, target, amount):
        with self.lock:
            self.balances[source] -= amount
            self.balances[target] += amount
            self.log.append((source, target, amount))

    def audit(self):
        with self.lock:
            assert sum(self.balances.values()) == 200
            return len(self.log)


bank = Bank()


def forth():
    for amount in range(5):
        bank.transfer("ann", "bob", amount)


def back():
    for amount in range(5):
        bank.transfer("bob", "ann", amount)


run(forth, back, bank.audit)
assert bank.balances == {"ann": 100, "bob": 100}
