"""Datagrams over loopback and over a Unix socket, between threads.

Varies: port numbers and the order.
"""

import os
import socket
import tempfile
import threading

got = []


def echo(server):
    for _ in range(6):
        data, address = server.recvfrom(100)
        server.sendto(data[::-1], address)


def ask(name, target):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        for number in range(3):
            client.sendto(b"%s%d" % (name, number), target)
            got.append(client.recvfrom(100))


with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
    server.bind(("127.0.0.1", 0))
    target = server.getsockname()
    threads = [threading.Thread(target=echo, args=(server,))]
    threads += [threading.Thread(target=ask, args=(name, target)) for name in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(got)

path = os.path.join(tempfile.mkdtemp(), "socket")
with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
    listener.bind(path)
    listener.listen()
    client.connect(path)
    accepted, address = listener.accept()
    with accepted:
        client.sendall(b"hello")
        print(accepted.recv(10), address, accepted.getsockname() == path, accepted.fileno())
print(os.path.exists(path), os.unlink(path))
