"""A set of ints changed by many threads: membership test, add, discard, copy, iteration.

Varies: the members left, duplicates claimed, sizes seen, errors of iteration.
"""

import threading
from zlib import crc32

claimed = set()
owners = []
sizes = []
errors = 0


def confirm(value):
    return value


def claim(name):
    for value in range(80):
        if value not in claimed:
            claimed.add(confirm(value))
            owners.append((value, name))
        if value % 7 == name:
            claimed.discard(value - 3)


def watch():
    global errors
    for _ in range(60):
        try:
            sizes.append(sum(confirm(1) for _ in claimed))
        except RuntimeError:
            errors = errors + 1


threads = [threading.Thread(target=claim, args=(name,)) for name in range(4)]
threads.append(threading.Thread(target=watch))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("claimed", sorted(claimed))
print("claims", len(owners), "of them double", len(owners) - len({value for value, _ in owners}))
print("owners", crc32(repr(owners).encode()))
print("sizes", crc32(repr(sizes).encode()), "errors", errors)
