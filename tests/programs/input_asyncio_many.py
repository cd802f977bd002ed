"""A thousand tasks with timers, queues and sockets, in two event loops in two threads.

Varies: the order of everything.
"""

import asyncio
import socket
import threading
from zlib import crc32

order = []
SIZE = 500


async def task(name, number, queue, pair):
    loop = asyncio.get_running_loop()
    kind = number % 4
    if kind == 0:
        await asyncio.sleep(number % 7 * 0.0005)
    elif kind == 1:
        await queue.put(number)
    elif kind == 2:
        order.append((name, "got", await queue.get()))
    elif number % 20 == 3:
        await loop.sock_sendall(pair[1], b"x")
        order.append((name, await loop.sock_recv(pair[0], 1)))
    order.append((name, number))


async def main(name):
    queue = asyncio.Queue(10)
    pair = socket.socketpair()
    for each in pair:
        each.setblocking(False)
    await asyncio.gather(*(task(name, number, queue, pair) for number in range(SIZE)))
    for each in pair:
        each.close()


threads = [threading.Thread(target=asyncio.run, args=(main(name),)) for name in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(order), crc32(repr(order).encode()), order[:10], order[-10:])
