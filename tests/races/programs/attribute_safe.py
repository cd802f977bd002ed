"""One thread writes an attribute of an object, another reads it, both with the lock."""

import threading

from _shared import run


class Account:
    def __init__(self):
        self.balance = 0


account = Account()
lock = threading.Lock()


def write():
    with lock:
        account.balance = 1


def read():
    with lock:
        return account.balance


run(write, read)
