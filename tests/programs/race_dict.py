"""A dict changed by many threads, and iterated while it changes.

Varies: counts, insertion order, how often 'changed size during iteration' was met.
"""

import threading
from zlib import crc32

counts = {}
size_errors = []
sums = []


def plus_one(value):
    return value + 1


def count(name):
    for step in range(150):
        key = f"k{(step * (name + 1)) % 17}"
        if key in counts:
            counts[key] = plus_one(counts[key])
        else:
            counts[key] = plus_one(0)
        if step % 10 == 9:
            counts.pop(key, None)


def iterate():
    for turn in range(40):
        total = 0
        try:
            for value in counts.values():
                total += plus_one(value)
        except RuntimeError as error:
            size_errors.append((turn, str(error)))
        sums.append(total)


threads = [threading.Thread(target=count, args=(name,)) for name in range(3)]
threads.append(threading.Thread(target=iterate))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("counts", counts)
print("errors", size_errors)
print("sums", crc32(repr(sums).encode()))
