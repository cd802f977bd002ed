"""A thread gives the loop a coroutine, and writes what that reads before it has the result."""

import asyncio
import threading

from _shared import Box

box = Box()
has_looked = threading.Event()


async def look():
    value = box.value  # at: read
    has_looked.set()
    return value


def work(loop):
    future = asyncio.run_coroutine_threadsafe(look(), loop)
    box.value = 1  # at: write
    has_looked.wait()
    future.result()


async def main():
    loop = asyncio.get_running_loop()
    thread = threading.Thread(target=work, args=(loop,))
    thread.start()
    while thread.is_alive():
        await asyncio.sleep(0.001)


asyncio.run(main())
