"""asyncio servers and clients over loopback and Unix sockets; time limits and closed ends.

Varies: port numbers and the order.
"""

import asyncio
import os
import tempfile

log = []


async def serve(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def ask(name, opening):
    reader, writer = await opening
    for number in range(3):
        writer.write(f"{name}{number}\n".encode())
        log.append(await reader.readline())
        await asyncio.sleep(0)
    writer.write_eof()
    log.append((name, await reader.read()))
    writer.close()


async def main():
    path = os.path.join(tempfile.mkdtemp(), "socket")
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    local = await asyncio.start_unix_server(serve, path)
    port = server.sockets[0].getsockname()[1]
    clients = [ask(name, asyncio.open_connection("127.0.0.1", port)) for name in "abc"]
    clients += [ask(name, asyncio.open_unix_connection(path)) for name in "de"]
    await asyncio.gather(*clients)
    reader, writer = await asyncio.open_connection("localhost", port)
    try:
        await asyncio.wait_for(reader.readline(), 0.005)
    except asyncio.TimeoutError:
        log.append("timeout")
    writer.close()
    server.close()
    local.close()
    try:
        await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError as error:
        log.append(str(error))
    return port


print(asyncio.run(main()))
for line in log:
    print(line)
