"""A line server that stops on Ctrl-C or SIGTERM, and reports on SIGUSR1."""

from __future__ import annotations

import hashlib
import json
import signal
import socketserver
import sys
import threading

lines: list[str] = []
lock = threading.Lock()


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            with lock:
                lines.append(line.decode().strip())
                count = len(lines)
            self.wfile.write(f"{count}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def stop(number: int, _: object) -> None:
    print(f"signal {signal.Signals(number).name} after {len(lines)} lines", flush=True)
    raise SystemExit(0)


def report(_: int, __: object) -> None:
    print(f"{len(lines)} lines so far", flush=True)


def main() -> None:
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGUSR1, report)
    with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        print("serving", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print(f"interrupted after {len(lines)} lines")
        finally:
            print("state", hashlib.sha256(json.dumps(lines).encode()).hexdigest(), flush=True)


main()
