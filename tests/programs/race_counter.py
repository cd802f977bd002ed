"""An unsynchronised counter: read, call, write back, so updates are lost.

Varies: the final value, what each thread read, the order of completion.
"""

import threading
from zlib import crc32

THREADS = 4
ROUNDS = 400

counter = 0
finished = {}


def successor(value):
    return value + 1


def work(name):
    global counter
    values_read = []
    for _ in range(ROUNDS):
        value = counter
        values_read.append(value)
        counter = successor(value)
    finished[name] = crc32(repr(values_read).encode())


threads = [threading.Thread(target=work, args=(name,)) for name in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("counter", counter, "lost", THREADS * ROUNDS - counter)
for name, digest in finished.items():
    print("thread", name, "read", digest)
