"""Clients of a line server: each says its lines and reads the answers.

lines.py PORT CLIENTS LINES
"""

from __future__ import annotations

import socket
import sys
import threading
import time


def connect(port: int) -> socket.socket:
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def talk(port: int, number: int, lines: int) -> None:
    with connect(port) as connection, connection.makefile("rw") as stream:
        for turn in range(lines):
            stream.write(f"{number} says {turn}\n")
            stream.flush()
            stream.readline()


port, clients, lines = map(int, sys.argv[1:4])
threads = [threading.Thread(target=talk, args=(port, n, lines)) for n in range(clients)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
