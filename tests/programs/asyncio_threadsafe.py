"""call_soon_threadsafe and run_coroutine_threadsafe into one loop that runs in a thread.

Varies: the order in which calls arrive.
"""

import asyncio
import threading

log = []
loop = asyncio.new_event_loop()


def run_loop():
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()
    log.append("loop closed")


async def square(name, number):
    await asyncio.sleep(0)
    log.append(f"{name} squares {number}")
    return number * number


def send(name):
    for number in range(5):
        loop.call_soon_threadsafe(log.append, f"{name} says {number}")
    futures = [asyncio.run_coroutine_threadsafe(square(name, n), loop) for n in range(3)]
    log.append(f"{name} sum {sum(future.result() for future in futures)}")


runner = threading.Thread(target=run_loop)
senders = [threading.Thread(target=send, args=(name,)) for name in "abc"]
runner.start()
for sender in senders:
    sender.start()
for sender in senders:
    sender.join()
loop.call_soon_threadsafe(loop.stop)
runner.join()
for line in log:
    print(line)
