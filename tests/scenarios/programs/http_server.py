"""A stock-keeping server: http.server with a thread per request, and no lock where one is due."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

stock = {f"item{number}": 0 for number in range(8)}
handled: list[str] = []
lock = threading.Lock()
lost = 0


class StockServer(ThreadingHTTPServer):
    request_queue_size = 128


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        self.note()
        self.answer({"name": name, "count": stock.get(name), "total": sum(stock.values())})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note()
        if self.path == "/quit":
            self.answer({"handled": len(handled)})
            self.server.shutdown()
            return
        self.answer({"count": change(self.path.rpartition("/")[2], body["delta"])})

    def note(self) -> None:
        with lock:
            handled.append(f"{self.command} {self.path} {threading.current_thread().name}")

    def answer(self, content: dict[str, object]) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def change(name: str, delta: int) -> int:
    """Read, look around, write: another thread may have written in between."""
    global lost
    before = stock[name]
    for other in stock:
        assert stock[other] >= 0
    lost += stock[name] != before
    stock[name] = before + delta
    return stock[name]


def main() -> None:
    with StockServer(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        print("serving", flush=True)
        server.serve_forever()
    state = json.dumps([stock, handled, lost])
    print(f"{len(handled)} requests, {sum(stock.values())} in stock, {lost} updates lost")
    print("state", hashlib.sha256(state.encode()).hexdigest())


main()
