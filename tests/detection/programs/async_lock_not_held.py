"""Lock not held across the await: read and write are each locked, the update is not.

From: asyncio.Lock around the parts instead of the whole.
Needs: the second update, which mostly comes much later, reads before the first one writes.
"""

import asyncio


class Counter:
    def __init__(self, holds: bool) -> None:
        self.holds = holds
        self.lock = asyncio.Lock()
        self.value = 0

    async def add_in_two(self) -> None:
        async with self.lock:
            value = self.value
        await asyncio.sleep(0.01)
        async with self.lock:
            self.value = value + 1

    async def add_in_one(self) -> None:
        async with self.lock:
            value = self.value
            await asyncio.sleep(0.01)
            self.value = value + 1

    async def add(self, delay: float) -> None:
        await asyncio.sleep(delay)
        await (self.add_in_one() if self.holds else self.add_in_two())


async def run(holds: bool) -> None:
    counter = Counter(holds)
    await asyncio.gather(counter.add(0), counter.add(0.1))
    assert counter.value == 2


def buggy() -> None:
    asyncio.run(run(holds=False))


def safe() -> None:
    asyncio.run(run(holds=True))
