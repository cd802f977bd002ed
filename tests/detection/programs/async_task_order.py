"""Order taken for granted: tasks are believed to start in the order in which they were created.

From: start-up code that creates a loader and its users together.
Needs: the user runs before the loader is through its two steps. KeyError.
"""

import asyncio


async def run(waits: bool) -> None:
    config: dict[str, int] = {}
    loaded = asyncio.Event()

    async def load() -> None:
        await asyncio.sleep(0)
        config["port"] = 80
        loaded.set()

    async def use() -> int:
        for _ in range(3):
            await asyncio.sleep(0)
        if waits:
            await loaded.wait()
        return config["port"]

    loader = asyncio.create_task(load())
    user = asyncio.create_task(use())
    await loader
    assert await user == 80


def buggy() -> None:
    asyncio.run(run(waits=False))


def safe() -> None:
    asyncio.run(run(waits=True))
