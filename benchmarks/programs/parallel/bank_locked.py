"""Shared memory: transfers between accounts, under the locks of both."""

import threading

from team import at_least, start

TRANSFERS = 400_000
ACCOUNTS = 200


class Account:
    """Money that a lock guards."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.lock = threading.Lock()
        self.balance = 1_000
        self.moves = 0


def transfer(source: Account, target: Account, amount: int) -> None:
    """Move an amount; the lower number is locked first."""
    first, second = (source, target) if source.number < target.number else (target, source)
    with first.lock, second.lock:
        source.balance -= amount
        target.balance += amount
        source.moves += 1
        target.moves += 1


def main() -> None:
    """Move money to and fro."""
    team, scale = start()
    transfers = at_least(4, TRANSFERS * scale)
    accounts = [Account(number) for number in range(ACCOUNTS)]

    def work(number: int) -> None:
        for turn in team.share(number, transfers):
            one = turn * 40_503 % ACCOUNTS
            other = (one + 1 + turn * 7_919 % (ACCOUNTS - 1)) % ACCOUNTS
            transfer(accounts[one], accounts[other], turn % 50)

    team.run(work)
    team.finish([(account.balance, account.moves) for account in accounts])


main()
