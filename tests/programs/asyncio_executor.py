"""run_in_executor and asyncio.to_thread: a loop that waits for worker threads.

Varies: the order of completion, the ticks of a coroutine meanwhile, timeouts.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

log = []


def work(number):
    time.sleep(0.001 * (number % 3))
    log.append(f"worker {number}")
    return number


async def tick():
    count = 0
    while True:
        count += 1
        ticks[0] = count
        await asyncio.sleep(0.0005)


async def main():
    loop = asyncio.get_running_loop()
    ticker = asyncio.create_task(tick())
    with ThreadPoolExecutor(3) as pool:
        futures = [loop.run_in_executor(pool, work, number) for number in range(9)]
        for future in asyncio.as_completed(futures):
            log.append(f"loop got {await future}")
    log.append(f"to_thread {await asyncio.to_thread(work, 100)}")
    try:
        await asyncio.wait_for(asyncio.to_thread(work, 101), 0.002)
        log.append("in time")
    except TimeoutError:
        log.append("too late")
    ticker.cancel()


ticks = [0]
asyncio.run(main())
for line in log:
    print(line)
print("ticks", ticks[0])
