"""Sentinel too early: the slow producer ends the queue, as it is always the last one.

From: pipelines with several producers and consumers.
Needs: the quick producer is late, and puts its item behind the sentinels.
"""

import asyncio


async def run(slow_one_ends: bool) -> None:
    queue: asyncio.Queue[int | None] = asyncio.Queue()
    got: list[int] = []

    async def produce(item: int, delay: float, ends: bool) -> None:
        await asyncio.sleep(delay)
        queue.put_nowait(item)
        if ends:
            end()

    def end() -> None:
        queue.put_nowait(None)
        queue.put_nowait(None)

    async def consume() -> None:
        while (item := await queue.get()) is not None:
            got.append(item)

    consumers = [asyncio.create_task(consume()) for _ in range(2)]
    await asyncio.gather(produce(1, 0.01, False), produce(2, 0.1, slow_one_ends))
    if not slow_one_ends:
        end()
    await asyncio.gather(*consumers)
    assert sorted(got) == [1, 2]


def buggy() -> None:
    asyncio.run(run(slow_one_ends=True))


def safe() -> None:
    asyncio.run(run(slow_one_ends=False))
