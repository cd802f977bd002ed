"""A thread writes before it asks the loop to call what reads."""

import asyncio
import threading

from _shared import Box

box = Box()


def look(done):
    done.set_result(box.value)


def work(loop, done):
    box.value = 1
    loop.call_soon_threadsafe(look, done)


async def main():
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    thread = threading.Thread(target=work, args=(loop, done))
    thread.start()
    assert await done == 1
    box.value = 2
    thread.join()


asyncio.run(main())
