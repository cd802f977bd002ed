"""Pulse: an event is set and cleared at once, and only those who already wait notice.

From: Event used as a Condition.
Needs: the task that pulses runs before the one that was created to wait for it.
"""

import asyncio


async def run(clears: bool) -> None:
    started = asyncio.Event()

    async def wait() -> str:
        await started.wait()
        return "seen"

    async def pulse() -> None:
        started.set()
        if clears:
            started.clear()

    waiter = asyncio.create_task(wait())
    pulser = asyncio.create_task(pulse())
    await pulser
    assert await waiter == "seen"


def buggy() -> None:
    asyncio.run(run(clears=True))


def safe() -> None:
    asyncio.run(run(clears=False))
