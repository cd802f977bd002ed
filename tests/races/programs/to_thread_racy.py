"""One task waits for a thread; another writes meanwhile what that reads."""

import asyncio
import threading

from _shared import Box

box = Box()
may_go_on = threading.Event()


def work():
    may_go_on.wait()
    return box.value  # at: read


async def write():
    may_go_on.set()
    box.value = 1  # at: write


async def main():
    await asyncio.gather(asyncio.to_thread(work), write())


asyncio.run(main())
