"""Shared memory: transfers between accounts without locks; money is lost and made."""

from team import at_least, start

TRANSFERS = 700_000
ACCOUNTS = 200


class Account:
    """Money that nothing guards."""

    def __init__(self) -> None:
        self.balance = 1_000
        self.moves = 0


def transfer(source: Account, target: Account, amount: int) -> None:
    """Move an amount."""
    source.balance -= amount
    target.balance += amount
    source.moves += 1
    target.moves += 1


def main() -> None:
    """Move money to and fro."""
    team, scale = start()
    transfers = at_least(4, TRANSFERS * scale)
    accounts = [Account() for _ in range(ACCOUNTS)]

    def work(number: int) -> None:
        for turn in team.share(number, transfers):
            one = turn * 40_503 % ACCOUNTS
            other = (one + 1 + turn * 7_919 % (ACCOUNTS - 1)) % ACCOUNTS
            transfer(accounts[one], accounts[other], turn % 50)

    team.run(work)
    team.finish([(account.balance, account.moves) for account in accounts])


main()
