"""Threads in as many states as there are, over several epochs; then something fails."""

import queue
import socket
import sys
import tempfile
import threading
import time


def receive():
    while data := left.recv(100):
        seen.append(("received", data))


def accept():
    while True:
        connection, _ = listener.accept()
        data = connection.recv(10)
        seen.append(("accepted", data))
        connection.close()
        if data == b"end":
            return


def produce():
    for number in range(200):
        numbers.put(number)
    numbers.put(None)


def consume():
    while (number := numbers.get()) is not None:
        with lock:
            seen.append(number)
            file.write(f"{number}\n")


def count():
    yield from range(1_000_000)


left, right = socket.socketpair()
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
numbers = queue.Queue(2)
lock = threading.Lock()
seen = []
counter = count()
file = tempfile.TemporaryFile("w+")  # noqa: SIM115
threads = [threading.Thread(target=each) for each in (receive, accept, produce, consume)]
for thread in threads:
    thread.start()
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    right.send(b"message %d" % next(counter))
    with socket.create_connection(listener.getsockname()) as connection:
        connection.send(b"hello")
    time.sleep(0.005)
    file.flush()
right.close()
with socket.create_connection(listener.getsockname()) as connection:
    connection.send(b"end")
for thread in threads:
    thread.join()
file.seek(0)
print("written", len(file.read().split()))
raise ValueError("at the end")
