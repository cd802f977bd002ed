"""The loop goes on while a thread works for it, and writes what that reads."""

import asyncio

from _shared import Box

box = Box()


def work():
    return box.value  # at: read


async def main():
    future = asyncio.get_running_loop().run_in_executor(None, work)
    box.value = 1  # at: write
    await future


asyncio.run(main())
