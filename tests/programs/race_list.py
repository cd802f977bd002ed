"""A list changed by many threads: appends, item updates, pops, deletions by index.

Varies: the order of the items, lost item updates, IndexErrors met.
"""

import threading
from zlib import crc32

items = []
slots = [0] * 4
errors = []


def plus_one(value):
    return value + 1


def work(name):
    for step in range(120):
        items.append((name, step))
        slot = step % len(slots)
        slots[slot] = plus_one(slots[slot])
        if step % 3 == 0:
            remove_middle(name)


def remove_middle(name):
    middle = plus_one(len(items) // 2)
    try:
        del items[middle]
        items.insert(plus_one(middle), (name, "moved"))
    except IndexError as error:
        errors.append((name, str(error)))


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("items", len(items), crc32(repr(items).encode()))
print("last items", items[-5:])
print("slots", slots)
print("errors", errors)
