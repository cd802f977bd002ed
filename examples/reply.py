"""A client that waits for an answer, but not for ever; the answer may come all the same."""

import asyncio
from contextlib import suppress


async def answer(reply):
    await asyncio.sleep(0.1)
    reply.set_result(42)


async def main():
    reply = asyncio.get_running_loop().create_future()
    server = asyncio.create_task(answer(reply))
    with suppress(TimeoutError):
        print("got", await asyncio.wait_for(reply, timeout=0.5))
    await server


asyncio.run(main())
