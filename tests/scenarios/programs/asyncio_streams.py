"""An asyncio server and its clients in one process: a chat room over streams, with time limits."""

from __future__ import annotations

import asyncio
import hashlib
import random

GUESTS = 12
LINES = 10
heard: list[str] = []
rooms: list[asyncio.StreamWriter] = []


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    rooms.append(writer)
    try:
        while line := await reader.readline():
            heard.append(line.decode().strip())
            for other in list(rooms):
                other.write(line)
            await writer.drain()
    except ConnectionError as error:  # a guest left without listening to the end
        heard.append(type(error).__name__)
    finally:
        rooms.remove(writer)
        writer.close()


async def talk(number: int, port: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = 0
    for turn in range(LINES):
        writer.write(f"{number} says {turn} {random.random()}\n".encode())
        await asyncio.sleep(random.random() / 100)
        try:
            await asyncio.wait_for(reader.readline(), 0.02)
            got += 1
        except TimeoutError:
            heard.append(f"{number} heard nothing")
    writer.close()
    await writer.wait_closed()
    return got


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print("port", port)
    async with server:
        got = await asyncio.gather(*(talk(number, port) for number in range(GUESTS)))
        while rooms:
            await asyncio.sleep(0.005)
    print(f"{len(heard)} lines, {sum(got)} heard")
    print("state", hashlib.sha256("\n".join(heard).encode()).hexdigest())


asyncio.run(main())
