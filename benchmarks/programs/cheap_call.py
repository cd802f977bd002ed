"""Inputs: one cheap call that brings something in, many times. The loop is timeit's own."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
import tempfile
import time
from timeit import Timer

REPEAT = 9


def time_time() -> float:
    """Reading the wall clock."""
    return best("f()", {"f": time.time}, 200_000)


def urandom16() -> float:
    """Sixteen random bytes."""
    return best("f(16)", {"f": os.urandom}, 50_000)


def recv64() -> float:
    """64 bytes that are there already."""
    left, right = socket.socketpair()
    data = bytes(64 * 500)
    timer = Timer("f(64)", globals={"f": right.recv})
    times = []
    for _ in range(REPEAT * 20):
        left.sendall(data)
        times.append(timer.timeit(500))
    return min(times) * 100


def file64k() -> float:
    """Opening, reading and closing a file of 64 KB, the same one each time."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(os.urandom(1 << 16))
        file.flush()
        return best("open(p, 'rb').read()", {"p": file.name}, 2_000)


def best(statement: str, names: dict[str, object], count: int) -> float:
    """The shortest of several loops, in seconds."""
    return min(Timer(statement, globals=names).repeat(REPEAT, count))


def asyncio_tasks() -> float:
    """1,000 tasks at once with timers, queues and sockets."""
    start = time.perf_counter()
    for _ in range(3):
        asyncio.run(many_tasks(1_000))
    return time.perf_counter() - start


async def many_tasks(count: int) -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    queue: asyncio.Queue[int] = asyncio.Queue()
    gate = asyncio.Semaphore(100)
    await asyncio.gather(*(one_task(number, port, queue, gate) for number in range(count)))
    server.close()
    assert queue.qsize() == count


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def one_task(
    number: int, port: int, queue: asyncio.Queue[int], gate: asyncio.Semaphore
) -> None:
    await asyncio.sleep(random.random() / 100)
    async with gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"task %d\n" % number)
        assert await reader.readline() == b"TASK %d\n" % number
        writer.close()
    await queue.put(number)


if __name__ == "__main__":
    print("elapsed", globals()[sys.argv[1]]())
