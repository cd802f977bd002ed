"""aiohttp: the one free connection is offered to a request whose time is up in the same moment.

That request ends with its timeout and offers the connection to nobody else. Those behind it in the
queue sleep on, and whoever comes later queues behind them: all wait for ever. (Since 3.10.11 later
requests do not queue behind sleepers, and wake them when they are done.)
"""

import asyncio

import aiohttp

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(0.02)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
        writer.close()


async def ask_all(session: aiohttp.ClientSession, url: str) -> None:
    async def ask(patience: float | None) -> str:
        timeout = aiohttp.ClientTimeout(total=patience)
        async with session.get(url, timeout=timeout) as response:
            return await response.text()

    holder = asyncio.create_task(ask(None))
    await asyncio.sleep(0)
    impatient = asyncio.create_task(ask(0.5))
    await asyncio.sleep(0)
    patient = asyncio.create_task(ask(None))
    await asyncio.gather(holder, impatient, return_exceptions=True)
    assert await ask(None) == "ok"
    assert await patient == "ok"


async def serve_and_ask() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(connector=connector) as session:
        await ask_all(session, f"http://127.0.0.1:{port}/")
    server.close()


def main() -> None:
    asyncio.run(serve_and_ask())


if __name__ == "__main__":
    main()
