"""Two event loops in two threads, whose tasks share an object."""

import asyncio

from _shared import Box, run

box = Box()


async def work():
    box.value += 1  # at: add


def loop():
    asyncio.run(work())


run(loop, loop)
