"""Servers: http.server, Flask, Flask with a cache; many threads.

Prints the processor time of everything, that of serving alone, and the most memory it had.
"""

import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from parts import peak_kb

counts: dict[str, int] = {}


def body_for(path: str) -> bytes:
    counts[path] = counts.get(path, 0) + 1
    return f"{path} was asked for {counts[path]} times\n".encode()


class Cache:
    """Pages that were made once. The lock is for `pages`; `hits` is counted without it, a race."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pages: dict[str, bytes] = {}
        self.hits = 0

    def page(self, path: str) -> bytes:
        with self.lock:
            page = self.pages.get(path)
            if page is None:
                page = self.pages[path] = f"This is {path}.\n".encode() * 20
                return page
        self.hits += 1
        return page


class Handler(BaseHTTPRequestHandler):
    """Answers every GET with a line of text, over connections that stay open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        body = body_for(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if self.path == "/quit":
            threading.Thread(target=self.server.shutdown).start()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128


def serve_plain() -> None:
    with Server(("127.0.0.1", 0), Handler) as server:
        announce(server.server_address[1])
        server.serve_forever()


def serve_flask(body: Callable[[str], bytes] = body_for) -> None:
    import logging

    from flask import Flask
    from werkzeug.serving import WSGIRequestHandler, make_server

    logging.getLogger("werkzeug").disabled = True
    WSGIRequestHandler.protocol_version = "HTTP/1.1"
    WSGIRequestHandler.disable_nagle_algorithm = True
    app = Flask(__name__)
    server = make_server("127.0.0.1", 0, app, threaded=True)

    @app.route("/<path:name>")
    def answer(name: str) -> bytes:
        if name == "quit":
            threading.Thread(target=server.shutdown).start()
        return body(name)

    announce(server.port)
    server.serve_forever()


def serve_cache() -> None:
    serve_flask(Cache().page)


def announce(port: int) -> None:
    global ready
    ready = time.process_time()
    print("port", port, flush=True)


if __name__ == "__main__":
    before = time.process_time()
    ready = before
    {"http.server": serve_plain, "flask": serve_flask, "cache": serve_cache}[sys.argv[1]]()
    now = time.process_time()
    print("cpu", now - before, "requests", sum(counts.values()))
    print("serving", now - ready)
    print("peak", peak_kb(), flush=True)
