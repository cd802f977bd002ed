"""A WSGI application served by waitress, which hands requests from one thread to a pool."""

from __future__ import annotations

import hashlib
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable

from waitress.server import create_server

stock = {f"item{number}": 0 for number in range(8)}
served: list[str] = []


def application(environ: dict, start_response: Callable) -> Iterable[bytes]:
    name = environ["PATH_INFO"].rpartition("/")[2]
    served.append(f"{environ['REQUEST_METHOD']} {name} {threading.current_thread().name}")
    if environ["REQUEST_METHOD"] == "POST":
        before = stock[name]
        delta = json.load(environ["wsgi.input"])["delta"]
        stock[name] = before + delta
    data = json.dumps({"name": name, "count": stock[name]}).encode()
    start_response("200 OK", [("Content-Length", str(len(data)))])
    return [data]


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # waitress ends its loop on SystemExit
    server = create_server(application, host="127.0.0.1", port=int(sys.argv[1]), threads=6)
    print("serving", flush=True)
    server.run()
    server.close()
    print(f"{len(served)} requests, {sum(stock.values())} in stock")
    print("state", hashlib.sha256(json.dumps([stock, served]).encode()).hexdigest())


main()
