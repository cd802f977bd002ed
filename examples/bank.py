"""A small bank with a rare race: four tellers move money between accounts without a lock.

Money is neither made nor destroyed by a transfer, so the total should stay 1000. It almost always
does: a teller must be interrupted between reading a balance and writing it back.
"""

import threading

START = 250


class Account:
    def __init__(self, owner):
        self.owner = owner
        self.balance = START

    def deposit(self, amount):
        self.balance = added(self.balance, amount)


def added(balance, amount):
    return balance + amount


def move_money(accounts, teller, rounds):
    for number in range(rounds):
        source = accounts[(teller + number) % len(accounts)]
        target = accounts[(teller + number + 1) % len(accounts)]
        source.deposit(-1)
        target.deposit(+1)


def main():
    accounts = [Account(owner) for owner in ("ann", "bob", "cem", "dot")]
    tellers = [
        threading.Thread(target=move_money, args=(accounts, number, 25)) for number in range(4)
    ]
    for teller in tellers:
        teller.start()
    for teller in tellers:
        teller.join()
    total = sum(account.balance for account in accounts)
    print(", ".join(f"{account.owner} {account.balance}" for account in accounts))
    print(f"total {total}:", "correct" if total == len(accounts) * START else "WRONG")
    assert total == len(accounts) * START, "a transfer made or lost money"


main()
