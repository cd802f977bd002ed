"""The loop waits for the thread that works for it."""

import asyncio

from _shared import Box

box = Box()


def work():
    box.value += 1


async def main():
    box.value = 1
    await asyncio.get_running_loop().run_in_executor(None, work)
    box.value += 1
    await asyncio.get_running_loop().run_in_executor(None, work)
    assert box.value == 4


asyncio.run(main())
