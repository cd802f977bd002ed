"""CPython, asyncio: Condition.notify chooses a task that is cancelled before it runs again.

A timeout is a cancellation. The notification is gone with it, and the other task goes on sleeping
although there is something for it.
"""

import asyncio


class Shelf:
    def __init__(self) -> None:
        self.filled = asyncio.Condition()
        self.goods: list[str] = []
        self.visitors = 0

    async def put(self, thing: str) -> None:
        async with self.filled:
            self.goods.append(thing)
            self.filled.notify()

    async def take(self) -> str:
        async with self.filled:
            self.visitors += 1
            while not self.goods:
                await self.filled.wait()
            return self.goods.pop()

    async def take_soon(self) -> str | None:
        try:
            async with asyncio.timeout(0.5):
                return await self.take()
        except TimeoutError:
            return None


async def trade() -> None:
    shelf = Shelf()
    hasty = asyncio.create_task(shelf.take_soon())
    await asyncio.sleep(0)
    calm = asyncio.create_task(shelf.take())
    await asyncio.sleep(0.02)
    await shelf.put("bread")
    if await hasty is not None:
        await shelf.put("milk")
    assert await calm in ("bread", "milk")


def main() -> None:
    asyncio.run(trade())


if __name__ == "__main__":
    main()
