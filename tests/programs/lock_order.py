"""One Lock, many threads: the counter is right, the order of acquisitions is not given.

Varies: the order.
"""

import threading
from zlib import crc32

lock = threading.Lock()
counter = 0
order = []


def plus_one(value):
    return value + 1


def work(name):
    global counter
    for _ in range(60):
        with lock:
            counter = plus_one(counter)
            order.append(name)


threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("counter", counter)
print("order", "".join(map(str, order[:80])), crc32(repr(order).encode()))
