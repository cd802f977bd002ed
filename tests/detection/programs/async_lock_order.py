"""Lock order: two tasks take two asyncio locks in opposite order.

From: transfers between locked accounts.
Needs: the second task, which mostly comes much later, takes its first lock while the first task is
between its two. Deadlock.
"""

import asyncio


async def run(second: str) -> None:
    locks = {"a": asyncio.Lock(), "b": asyncio.Lock()}
    done: list[str] = []

    async def transfer(order: str, delay: float) -> None:
        await asyncio.sleep(delay)
        async with locks[order[0]]:
            await asyncio.sleep(0.01)
            async with locks[order[1]]:
                done.append(order)

    await asyncio.gather(transfer("ab", 0), transfer(second, 0.1))
    assert len(done) == 2


def buggy() -> None:
    asyncio.run(run("ba"))


def safe() -> None:
    asyncio.run(run("ab"))
