"""Tasks write one after another, some of them in threads that they wait for."""

import asyncio

from _shared import Box

box = Box()


def work():
    box.value += 1


async def main():
    await asyncio.to_thread(work)
    box.value += 1
    await asyncio.to_thread(work)
    assert box.value == 3


asyncio.run(main())
