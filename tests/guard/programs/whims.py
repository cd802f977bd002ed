"""Goes back again and again, with hardly anything in between; and fails in other ways meanwhile."""

import asyncio
import contextlib

import reenact


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("not even this works")


@reenact.guarded(only=(KeyError, Odd))
def risky(error):
    raise error


@reenact.guarded(new_epoch=True)
async def awaited():
    await asyncio.sleep(0)
    raise ValueError("of a coroutine \0 \udc80")


for error in (KeyError("it counts"), IndexError("it does not count"), Odd()):
    with contextlib.suppress(Exception):
        risky(error)
reenact.rollback("first")
number = 1
reenact.rollback("second")
with contextlib.suppress(ValueError):
    asyncio.run(awaited())
print("the end")
