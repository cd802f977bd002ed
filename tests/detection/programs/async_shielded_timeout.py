"""Shielded and repeated: after the timeout the payment is made again, but the first one lives on.

From: wait_for with shield, and a retry.
Needs: the timeout comes before the payment is through, which takes a fraction of that time.
"""

import asyncio


async def run(pays_again: bool) -> None:
    charged: list[int] = []

    async def pay() -> None:
        await asyncio.sleep(0.01)
        charged.append(1)

    payment = asyncio.create_task(pay())
    try:
        async with asyncio.timeout(0.5):
            await asyncio.shield(payment)
    except TimeoutError:
        if pays_again:
            await pay()
    await payment
    assert len(charged) == 1


def buggy() -> None:
    asyncio.run(run(pays_again=True))


def safe() -> None:
    asyncio.run(run(pays_again=False))
