"""One task waits for a thread; another writes meanwhile what that reads."""

import asyncio

from _shared import Box

box = Box()


def work():
    return box.value  # at: read


async def write():
    box.value = 1  # at: write


async def main():
    await asyncio.gather(asyncio.to_thread(work), write())


asyncio.run(main())
