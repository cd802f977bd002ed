"""A list sorted with a Python key while others append and sort too.

Varies: 'list modified during sort' errors, what was lost, the final order.
"""

import threading
from zlib import crc32

items = list(range(40))
events = []


def rank(item):
    return (item * 31) % 101


def sort(name):
    for turn in range(12):
        try:
            items.sort(key=rank, reverse=turn % 2 == 0)
        except ValueError as error:
            events.append((name, turn, str(error)))


def append(name):
    for step in range(40):
        items.append(rank(step) + 1000 * name)
        events.append((name, len(items)))


threads = [threading.Thread(target=sort, args=(name,)) for name in range(2)]
threads += [threading.Thread(target=append, args=(name,)) for name in range(2, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("items", len(items), crc32(repr(items).encode()))
print("errors", [event for event in events if len(event) == 3])
print("events", crc32(repr(events).encode()))
