"""Threads lose deposits; an assertion finds out."""

import threading


class Account:
    def __init__(self):
        self.balance = 100


def deposit(account, times):
    for _ in range(times):
        before = account.balance
        after = add(before)
        account.balance = after  # the write that overwrites


def add(number):
    for _ in range(3):
        number += 0
    return number + 1


account = Account()
threads = [threading.Thread(target=deposit, args=(account, 3000)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert account.balance == 9100, account.balance
