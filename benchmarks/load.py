"""The load for servers.py: CONNECTIONS clients in a process of their own, REQUESTS in all.

    python benchmarks/load.py PORT CONNECTIONS REQUESTS

Prints the seconds that the requests took. Plain sockets: the client should cost little.
"""

from __future__ import annotations

import selectors
import socket
import sys
import time
from dataclasses import dataclass

REQUEST = b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n"


def main() -> None:
    port, connections, requests = map(int, sys.argv[1:4])
    start = time.perf_counter()
    drive(port, connections, requests)
    print(time.perf_counter() - start)
    with socket.create_connection(("127.0.0.1", port)) as last:
        last.sendall(REQUEST.replace(b"/page", b"/quit"))
        last.recv(1 << 16)


@dataclass
class Client:
    """One that asks again as soon as it has its answer."""

    port: int
    left: int
    answer: bytes = b""


def drive(port: int, connections: int, requests: int) -> None:
    selector = selectors.DefaultSelector()
    share, rest = divmod(requests, connections)
    for number in range(connections):
        ask_anew(selector, Client(port, share + (number < rest)))
    while selector.get_map():
        for key, _ in selector.select():
            receive(selector, key)


def ask_anew(selector: selectors.BaseSelector, client: Client) -> None:
    connection = socket.create_connection(("127.0.0.1", client.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    selector.register(connection, selectors.EVENT_READ, client)
    connection.sendall(REQUEST)


def receive(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    connection: socket.socket = key.fileobj  # type: ignore[assignment]
    client: Client = key.data
    data = connection.recv(1 << 16)
    if not data:
        raise SystemExit("the server closed a connection before it had answered")
    client.answer += data
    if not is_whole(client.answer):
        return
    is_closing = b"connection: close" in client.answer.lower()
    client.answer = b""
    client.left -= 1
    if client.left > 0 and not is_closing:
        connection.sendall(REQUEST)
        return
    selector.unregister(connection)
    connection.close()
    if client.left > 0:
        ask_anew(selector, client)


def is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = (
        next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        if end
        else -1
    )
    return len(body) == length


if __name__ == "__main__":
    main()
