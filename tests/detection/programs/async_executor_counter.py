"""Thread and task: a function in the executor changes what a task changes too.

From: run_in_executor with shared state.
Needs: the task's increment falls between the thread's read and write, or the other way round.
"""

import asyncio


class Statistics:
    def __init__(self) -> None:
        self.requests = 0

    def count(self) -> None:
        self.requests += 1

    def compute(self) -> int:
        return 1


async def run(counts_in_thread: bool) -> None:
    statistics = Statistics()
    loop = asyncio.get_running_loop()
    if counts_in_thread:
        job = loop.run_in_executor(None, statistics.count)
        statistics.count()
        await job
    else:
        amount = loop.run_in_executor(None, statistics.compute)
        statistics.count()
        statistics.requests += await amount
    assert statistics.requests == 2


def buggy() -> None:
    asyncio.run(run(counts_in_thread=True))


def safe() -> None:
    asyncio.run(run(counts_in_thread=False))
