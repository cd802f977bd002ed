"""A thread gives the loop a coroutine; what it wrote is seen there, and what that wrote, here."""

import asyncio
import threading

from _shared import Box

box = Box()


async def add():
    box.value += 1
    return box.value


def work(loop):
    box.value = 1
    assert asyncio.run_coroutine_threadsafe(add(), loop).result() == 2
    box.value += 1


async def main():
    loop = asyncio.get_running_loop()
    thread = threading.Thread(target=work, args=(loop,))
    thread.start()
    while thread.is_alive():
        await asyncio.sleep(0.001)
    assert box.value == 3


asyncio.run(main())
