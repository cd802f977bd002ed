"""Split critical section: a withdrawal reads the balance under the lock and writes it under the
lock, but lets go of it in between.

From: account_bad, SCTBench (CS).
Needs: the deposit falls between the withdrawal's two sections; a third thread looks on.
"""

import threading
from collections.abc import Callable


class Account:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.balance = 10
        self.seen = 0

    def deposit(self) -> None:
        with self.lock:
            self.balance += 5

    def withdraw_in_two(self) -> None:
        with self.lock:
            balance = self.balance
        with self.lock:
            self.balance = balance - 3

    def withdraw(self) -> None:
        with self.lock:
            self.balance -= 3

    def look(self) -> None:
        with self.lock:
            self.seen = self.balance


def run(account: Account, withdraw: Callable[[], None]) -> None:
    targets = (account.deposit, withdraw, account.look)
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == 12
    assert account.seen in (7, 10, 12, 15)


def buggy() -> None:
    account = Account()
    run(account, account.withdraw_in_two)


def safe() -> None:
    account = Account()
    run(account, account.withdraw)
