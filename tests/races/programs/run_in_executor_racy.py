"""The loop goes on while a thread works for it, and writes what that reads."""

import asyncio
import threading

from _shared import Box

box = Box()
may_go_on = threading.Event()


def work():
    may_go_on.wait()
    return box.value  # at: read


async def main():
    future = asyncio.get_running_loop().run_in_executor(None, work)
    may_go_on.set()
    box.value = 1  # at: write
    await future


asyncio.run(main())
