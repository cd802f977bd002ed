"""Wrong lock: a transfer holds the lock of the account it takes from, not of the one it pays into.

From: Account, IBM Concurrency Testing Repository.
Needs: one transfer reads a balance, the other one writes it, the first writes what it computed.
"""

import threading


class Account:
    def __init__(self, number: int) -> None:
        self.number = number
        self.lock = threading.Lock()
        self.balance = 100


def transfer_with_one_lock(source: Account, target: Account, amount: int) -> None:
    with source.lock:
        source.balance -= amount
        target.balance += amount


def transfer_with_both_locks(source: Account, target: Account, amount: int) -> None:
    first, second = sorted((source, target), key=lambda account: account.number)
    with first.lock, second.lock:
        source.balance -= amount
        target.balance += amount


def buggy() -> None:
    ann, bob = Account(1), Account(2)
    threads = [
        threading.Thread(target=transfer_with_one_lock, args=(ann, bob, 10)),
        threading.Thread(target=transfer_with_one_lock, args=(bob, ann, 25)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ann.balance, bob.balance) == (115, 85)


def safe() -> None:
    ann, bob = Account(1), Account(2)
    threads = [
        threading.Thread(target=transfer_with_both_locks, args=(ann, bob, 10)),
        threading.Thread(target=transfer_with_both_locks, args=(bob, ann, 25)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ann.balance, bob.balance) == (115, 85)
