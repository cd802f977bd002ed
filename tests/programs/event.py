"""Event: set, clear, wait, and is_set polled meanwhile.

Varies: the order of waking, what the pollers saw.
"""

import threading
from zlib import crc32

go = threading.Event()
again = threading.Event()
order = []
polls = []


def wait(name):
    order.append((name, "first", go.wait()))
    order.append((name, "second", again.wait()))


def poll():
    for _ in range(100):
        polls.append((go.is_set(), again.is_set()))


threads = [threading.Thread(target=wait, args=(name,)) for name in range(6)]
threads.append(threading.Thread(target=poll))
for thread in threads:
    thread.start()
go.set()
go.clear()
order.append(("main", "cleared", go.is_set()))
go.set()
again.set()
for thread in threads:
    thread.join()

for entry in order:
    print(*entry)
print("polls", [polls.count(pair) for pair in sorted(set(polls))], crc32(repr(polls).encode()))
