"""Check, await, act: the balance is checked, then something is awaited, then it is changed.

From: the usual race of asyncio.
Needs: the second withdrawal, which mostly comes much later, checks while the first one awaits.
"""

import asyncio


class Account:
    def __init__(self, checks_last: bool) -> None:
        self.checks_last = checks_last
        self.balance = 100

    async def withdraw(self, delay: float) -> None:
        await asyncio.sleep(delay)
        if self.checks_last:
            await asyncio.sleep(0.01)
            if self.balance >= 80:
                self.balance -= 80
        elif self.balance >= 80:
            await asyncio.sleep(0.01)
            self.balance -= 80


async def run(account: Account) -> None:
    await asyncio.gather(account.withdraw(0), account.withdraw(0.1))
    assert account.balance == 20


def buggy() -> None:
    asyncio.run(run(Account(checks_last=False)))


def safe() -> None:
    asyncio.run(run(Account(checks_last=True)))
