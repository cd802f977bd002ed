"""A thread blocks in a C call that nobody declared, while others count."""

import ctypes
import os
import sys
import threading

libc = ctypes.CDLL(None)
ways = {"usleep": lambda: libc.usleep(600_000), "read": lambda: read_pipe()}
readable, writable = os.pipe()
order = []
counts = [0, 0]


def read_pipe():
    buffer = ctypes.create_string_buffer(1)
    assert libc.read(readable, buffer, 1) == 1
    order.append(buffer.value)


def one_more(value):
    return value + 1


def block():
    order.append("blocks")
    ways[sys.argv[1]]()
    order.append("goes on")


def count(name):
    for _ in range(500):
        counts[name] = one_more(counts[name])
    order.append(name)
    if counts == [500, 500]:
        libc.write(writable, b"x", 1)


threads = [threading.Thread(target=block)]
threads += [threading.Thread(target=count, args=(name,)) for name in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(order, counts)
