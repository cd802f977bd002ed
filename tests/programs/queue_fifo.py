"""queue.Queue with maxsize: producers block when it is full, consumers when it is empty.

Varies: who consumed what, queue sizes seen.
"""

import queue
import threading
from zlib import crc32

items = queue.Queue(maxsize=3)
consumed = []
sizes = []


def produce(name):
    for number in range(30):
        items.put((name, number))
        sizes.append(items.qsize())


def consume(name):
    while True:
        item = items.get()
        if item is None:
            return
        consumed.append((name, *item))


producers = [threading.Thread(target=produce, args=(name,)) for name in "ab"]
consumers = [threading.Thread(target=consume, args=(name,)) for name in "xyz"]
for thread in producers + consumers:
    thread.start()
for thread in producers:
    thread.join()
for _ in consumers:
    items.put(None)
for thread in consumers:
    thread.join()

print("consumed", len(consumed), [sum(c[0] == name for c in consumed) for name in "xyz"])
print("order", consumed[:6], crc32(repr(consumed).encode()))
print("sizes", max(sizes), crc32(repr(sizes).encode()), "empty", items.empty())
