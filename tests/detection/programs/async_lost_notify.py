"""Lost notify: the permit is given to a waiter whose time is up before it runs again.

From: asyncio.Condition before 3.13, aiohttp's connection limit.
Needs: release and timeout fall together: the first waiter has been chosen, and then times out. It
does not pass the permit on, and the second waiter waits for ever.
"""

import asyncio


class Permit:
    def __init__(self, passes_on: bool) -> None:
        self.passes_on = passes_on
        self.waiters: list[asyncio.Future[None]] = []
        self.both_wait = asyncio.Event()

    def release(self) -> None:
        while self.waiters:
            waiter = self.waiters.pop(0)
            if not waiter.done():
                waiter.set_result(None)
                return

    async def acquire(self, patience: float | None) -> bool:
        waiter = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        if len(self.waiters) == 2:
            self.both_wait.set()
        try:
            async with asyncio.timeout(patience):
                await waiter
        except TimeoutError:
            if self.passes_on and not waiter.cancelled():
                self.release()
            return False
        return True


async def run(permit: Permit) -> None:
    async def use(patience: float | None) -> bool:
        if not await permit.acquire(patience):
            return False
        permit.release()
        return True

    impatient = asyncio.create_task(use(0.5))
    patient = asyncio.create_task(use(None))
    await permit.both_wait.wait()
    await asyncio.sleep(0.1)
    permit.release()
    await impatient
    assert await patient


def buggy() -> None:
    asyncio.run(run(Permit(passes_on=False)))


def safe() -> None:
    asyncio.run(run(Permit(passes_on=True)))
