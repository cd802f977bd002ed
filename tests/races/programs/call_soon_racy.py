"""A thread writes after it has asked the loop to call what reads."""

import asyncio
import threading

from _shared import Box

box = Box()


def look(done):
    done.set_result(box.value)  # at: read


def work(loop, done):
    loop.call_soon_threadsafe(look, done)
    box.value = 1  # at: write


async def main():
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    thread = threading.Thread(target=work, args=(loop, done))
    thread.start()
    await done
    thread.join()


asyncio.run(main())
