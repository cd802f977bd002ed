"""Made twice: two tasks miss the cache, as the resource is stored after it was awaited.

From: caches of sessions and connections.
Needs: the second task, which mostly comes much later, looks while the first one fetches.
"""

import asyncio


class Cache:
    def __init__(self, keeps_task: bool) -> None:
        self.keeps_task = keeps_task
        self.values: dict[str, int] = {}
        self.tasks: dict[str, asyncio.Task[int]] = {}
        self.fetches = 0

    async def fetch(self) -> int:
        self.fetches += 1
        await asyncio.sleep(0.01)
        return self.fetches

    async def get(self, key: str) -> int:
        if self.keeps_task:
            if key not in self.tasks:
                self.tasks[key] = asyncio.create_task(self.fetch())
            return await self.tasks[key]
        if key not in self.values:
            self.values[key] = await self.fetch()
        return self.values[key]

    async def get_later(self, key: str, delay: float) -> int:
        await asyncio.sleep(delay)
        return await self.get(key)


async def run(cache: Cache) -> None:
    got = await asyncio.gather(cache.get_later("a", 0), cache.get_later("a", 0.1))
    assert list(got) == [1, 1]


def buggy() -> None:
    asyncio.run(run(Cache(keeps_task=False)))


def safe() -> None:
    asyncio.run(run(Cache(keeps_task=True)))
