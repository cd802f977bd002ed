"""A TLS server and its clients in one process: threads, a self-signed certificate."""

from __future__ import annotations

import hashlib
import socket
import ssl
import sys
import threading

CLIENTS = 6
certificate, key = sys.argv[1:]
said: list[str] = []
lock = threading.Lock()


def serve(listener: socket.socket) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    handlers = []
    for _ in range(CLIENTS):
        connection, _ = listener.accept()
        handlers.append(threading.Thread(target=answer, args=(context, connection)))
        handlers[-1].start()
    for handler in handlers:
        handler.join()


def answer(context: ssl.SSLContext, plain: socket.socket) -> None:
    with context.wrap_socket(plain, server_side=True) as connection:
        while data := connection.recv(4096):
            with lock:
                said.append(data.decode())
            connection.sendall(data.upper())


def talk(number: int, address: tuple[str, int]) -> None:
    context = ssl.create_default_context(cafile=certificate)
    with (
        socket.create_connection(address) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        for turn in range(5):
            connection.sendall(f"{number} says {turn}".encode())
            said.append(connection.recv(4096).decode())
        said.append(f"{connection.version()} {connection.cipher()}")


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        threads = [threading.Thread(target=serve, args=(listener,))]
        threads += [threading.Thread(target=talk, args=(n, address)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"{len(said)} lines")
    print("state", hashlib.sha256("\n".join(said).encode()).hexdigest())


main()
