"""An asyncio event loop in each of several threads, with tasks, sleeps and a shared list.

Varies: the order of all steps.
"""

import asyncio
import threading
from zlib import crc32

steps = []


async def walk(name, number):
    for step in range(4):
        steps.append((name, number, step))
        await asyncio.sleep(0.001 if step == 2 else 0)
    return number


async def main(name):
    results = await asyncio.gather(*(walk(name, number) for number in range(4)))
    return name, sum(results)


def run(name):
    finished.append(asyncio.run(main(name)))


finished = []
threads = [threading.Thread(target=run, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("finished", finished)
print("steps", len(steps), "".join(name for name, *_ in steps), crc32(repr(steps).encode()))
