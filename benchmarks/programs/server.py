"""Servers: http.server or Flask, many threads; prints the processor time that serving took."""

from __future__ import annotations

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

counts: dict[str, int] = {}


def body_for(path: str) -> bytes:
    counts[path] = counts.get(path, 0) + 1
    return f"{path} was asked for {counts[path]} times\n".encode()


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


def serve_flask() -> None:
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
        return body_for(name)

    announce(server.port)
    server.serve_forever()


def announce(port: int) -> None:
    print("port", port, flush=True)


if __name__ == "__main__":
    before = time.process_time()
    {"http.server": serve_plain, "flask": serve_flask}[sys.argv[1]]()
    print("cpu", time.process_time() - before, "requests", sum(counts.values()), flush=True)
