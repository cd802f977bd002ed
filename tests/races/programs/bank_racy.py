"""A bank whose deposits hold a lock; its auditor does not."""

import threading

from _shared import run


class Bank:
    def __init__(self):
        self.lock = threading.Lock()
        self.balances = {"ann": 100, "bob": 100}

    def deposit(self, name, amount):
        with self.lock:
            self.balances[name] += amount  # at: deposit

    def audit(self):
        return sum(self.balances.values())  # at: audit


bank = Bank()
run(lambda: bank.deposit("ann", 5), bank.audit, lambda: bank.deposit("bob", 5))
