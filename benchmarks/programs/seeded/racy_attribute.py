"""Racy: an account that one thread pays into with the lock held, and another one without."""

import threading


class Account:
    """Money and its lock."""

    def __init__(self) -> None:
        self.balance = 0
        self.lock = threading.Lock()

    def deposit(self) -> None:
        """As it should be."""
        for _ in range(200):
            with self.lock:
                self.balance += 1  # racy

    def deposit_hastily(self) -> None:
        """The lock was forgotten."""
        for _ in range(200):
            self.balance += 1  # racy


account = Account()
threads = [threading.Thread(target=account.deposit)]
threads += [threading.Thread(target=account.deposit_hastily)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("balance", account.balance)
