"""An RLock taken recursively, to changing depths, by several threads.

Varies: the order in which threads got it.
"""

import threading
from zlib import crc32

lock = threading.RLock()
tree = []


def descend(name, depth):
    with lock:
        tree.append((name, depth))
        if depth:
            descend(name, depth - 1)
            descend(name, depth - 2 if depth > 1 else 0)


def work(name):
    for depth in (1, 3, 2, 4):
        descend(name, depth)
        if lock.acquire(blocking=False):
            tree.append((name, "free"))
            lock.release()
        else:
            tree.append((name, "busy"))


threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

runs = [name for i, (name, _) in enumerate(tree) if i == 0 or tree[i - 1][0] != name]
print("entries", len(tree), crc32(repr(tree).encode()))
print("turns", "".join(runs))
print("busy", sum(depth == "busy" for _, depth in tree))
