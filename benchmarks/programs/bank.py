"""Objects: accounts with small methods; each thread has its own ones, and a ledger is common."""

import threading

from parts import run_parts

TRANSFERS = 520_000
ACCOUNTS = 64
POSTED_EACH = 16


class Account:
    """Money, and what was done with it."""

    def __init__(self, number: int, balance: int) -> None:
        self.number = number
        self.balance = balance
        self.limit = -1_000
        self.deposits = 0
        self.withdrawals = 0
        self.refused = 0

    def available(self) -> int:
        """What may be taken from it."""
        return self.balance - self.limit

    def deposit(self, amount: int) -> None:
        """Add to it."""
        self.balance += amount
        self.deposits += 1

    def withdraw(self, amount: int) -> bool:
        """Take from it, if it may be taken."""
        if self.available() < amount:
            self.refused += 1
            return False
        self.balance -= amount
        self.withdrawals += 1
        return True


class Ledger:
    """What all threads have moved."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.moved = 0
        self.postings = 0

    def post(self, amount: int) -> None:
        """Add what a thread has moved."""
        with self.lock:
            self.moved += amount
            self.postings += 1


class Teller:
    """Moves money between the accounts that it has."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.accounts = [Account(number, 100) for number in range(ACCOUNTS)]
        self.state = 7
        self.moved = 0
        self.done = 0

    def choose(self) -> Account:
        """Any account; the same ones in each run."""
        self.state = (self.state * 1_103_515_245 + 12_345) & 0x7FFFFFFF
        return self.accounts[self.state >> 8 & ACCOUNTS - 1]

    def transfer(self, source: Account, target: Account, amount: int) -> None:
        """Move an amount, and post all that was moved now and then."""
        if source is not target and source.withdraw(amount):
            target.deposit(amount)
            self.moved += amount
        self.done += 1
        if self.done % POSTED_EACH == 0:
            self.ledger.post(self.moved)
            self.moved = 0

    def total(self) -> int:
        """All the money."""
        return sum(account.balance for account in self.accounts)


def main() -> None:
    """Every thread is a teller."""
    ledger = Ledger()

    def work(part: float) -> int:
        teller = Teller(ledger)
        while teller.done < TRANSFERS * part:
            teller.transfer(teller.choose(), teller.choose(), teller.done % 50)
        return teller.total()

    totals, watch = run_parts(work)
    print("right", all(total == 100 * ACCOUNTS for total in totals), "postings", ledger.postings)
    watch.print()


main()
