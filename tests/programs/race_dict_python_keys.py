"""A dict whose keys have Python `__hash__` and `__eq__`: threads switch inside a lookup.

Varies: duplicate keys, the order of insertion, the number of comparisons.
"""

import threading
from zlib import crc32


class Key:
    compared = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return self.number % 3

    def __eq__(self, other):
        Key.compared = Key.compared + 1
        return self.number == other.number


table = {}
trace = []


def work(name):
    for step in range(90):
        key = Key((step * (name + 1)) % 12)
        table[key] = table.get(key, 0) + 1
        if step % 6 == 5:
            trace.append((name, key.number, table.pop(key, None)))


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("table", [(key.number, value) for key, value in table.items()])
print("compared", Key.compared)
print("popped", len(trace), crc32(repr(trace).encode()))
