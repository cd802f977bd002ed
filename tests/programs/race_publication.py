"""Objects put into a shared registry before their fields are set; readers meet AttributeError.

Varies: how many reads failed, which and on which field.
"""

import threading
from zlib import crc32


class Node:
    pass


registry = {}
failures = []
reads = []


def value_of(number):
    return number * 2


def write(name):
    for number in range(60):
        node = Node()
        registry[number % 8] = node
        node.owner = name
        node.number = value_of(number)
        node.done = value_of(number) > 0


def read(name):
    for turn in range(150):
        node = registry.get(turn % 8)
        if node is None:
            continue
        try:
            reads.append((name, node.owner, node.number, node.done))
        except AttributeError as error:
            failures.append((name, turn, str(error)))


threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
threads += [threading.Thread(target=read, args=(name,)) for name in "xy"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("failures", failures)
print("reads", len(reads), crc32(repr(reads).encode()))
print("final", [(key, node.owner, node.number) for key, node in registry.items()])
