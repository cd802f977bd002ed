"""One seeded random.Random shared by threads: each draw depends on all before it.

Varies: what each thread drew, the state at the end.
"""

import random
import threading
from zlib import crc32

shared = random.Random(2024)
drawn = {name: [] for name in "abcd"}


def work(name):
    for _ in range(60):
        drawn[name].append(shared.randrange(1000))
        drawn[name].append(round(shared.gauss(0, 1), 6))


threads = [threading.Thread(target=work, args=(name,)) for name in drawn]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for name, values in drawn.items():
    print(name, values[:3], crc32(repr(values).encode()))
print("state", crc32(repr(shared.getstate()).encode()))
