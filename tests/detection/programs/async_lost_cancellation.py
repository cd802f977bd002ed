"""Lost cancellation: a cleanup step swallows CancelledError, and the task goes on.

From: `except BaseException` and `except CancelledError: pass` around an await.
Needs: the cancellation comes while that step is awaited, which is mostly over long before. The
task then waits for ever for what will not come.
"""

import asyncio


async def flush(swallows: bool) -> None:
    try:
        await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        if not swallows:
            raise


async def run(swallows: bool) -> None:
    never = asyncio.Event()

    async def serve() -> None:
        await flush(swallows)
        await never.wait()

    server = asyncio.create_task(serve())
    await asyncio.sleep(0.1)
    server.cancel()
    await asyncio.wait([server])
    assert server.cancelled()


def buggy() -> None:
    asyncio.run(run(swallows=True))


def safe() -> None:
    asyncio.run(run(swallows=False))
