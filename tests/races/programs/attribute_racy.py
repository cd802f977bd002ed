"""One thread writes an attribute of an object, another reads it."""

from _shared import run


class Account:
    def __init__(self):
        self.balance = 0


account = Account()


def write():
    account.balance = 1  # at: write


def read():
    return account.balance  # at: read


run(write, read)
