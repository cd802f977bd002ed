"""Tasks of one loop share what they like: they take turns in one thread."""

import asyncio

from _shared import Box

box = Box()
seen = []


async def work(number):
    for _ in range(3):
        box.value += 1
        seen.append(number)
        await asyncio.sleep(0)


async def main():
    await asyncio.gather(*(work(number) for number in range(4)))
    assert box.value == len(seen) == 12


asyncio.run(main())
