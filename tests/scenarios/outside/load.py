"""Drives a server from outside: clients that read and change items, so many requests in all.

    load.py PORT CLIENTS REQUESTS [--quit]

Waits until the server is there. With --quit the last request asks it to end.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException

LIMIT_S = 60
failures: list[str] = []
tickets = itertools.count()


def ask(connection: HTTPConnection, number: int) -> None:
    path = f"/item/item{number % 8}"
    if number % 3:
        body = json.dumps({"delta": number % 5})
        connection.request("POST", path, body, {"Content-Type": "application/json"})
    else:
        connection.request("GET", path)
    answer = connection.getresponse()
    json.loads(answer.read())
    if answer.status != 200:
        failures.append(f"request {number}: {answer.status}")


def work(port: int, requests: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
    while (number := next(tickets)) < requests:
        try:
            ask(connection, number)
        except (OSError, HTTPException, ValueError) as error:
            failures.append(f"request {number}: {error!r}")
            connection.close()
    connection.close()


def wait_for_server(port: int) -> None:
    """Asks until there is an answer: the server sees no connection without a request."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            return ask(HTTPConnection("127.0.0.1", port, timeout=LIMIT_S), 0)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main() -> None:
    port, clients, requests = map(int, sys.argv[1:4])
    wait_for_server(port)
    next(tickets)
    threads = [threading.Thread(target=work, args=(port, requests)) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if "--quit" in sys.argv:
        connection = HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
        connection.request("POST", "/quit", "{}", {"Content-Type": "application/json"})
        print(connection.getresponse().read().decode())
    if failures:
        sys.exit("\n".join(failures[:10]))


main()
