"""queue.SimpleQueue (C): put, get, get_nowait, get with timeout.

Varies: who got what, how often it was empty.
"""

import queue
import threading
from zlib import crc32

box = queue.SimpleQueue()
got = []
misses = {"blocking": 0, "nowait": 0, "timeout": 0}


def put(name):
    for number in range(30):
        box.put((name, number))


def get_blocking():
    for _ in range(30):
        got.append(("blocking", *box.get()))


def get_nowait():
    for _ in range(60):
        try:
            got.append(("nowait", *box.get_nowait()))
        except queue.Empty:
            misses["nowait"] += 1


def get_timeout():
    while misses["timeout"] < 2:
        try:
            got.append(("timeout", *box.get(timeout=0.002)))
        except queue.Empty:
            misses["timeout"] += 1


targets = [get_blocking, get_nowait, get_timeout]
threads = [threading.Thread(target=target) for target in targets]
threads += [threading.Thread(target=put, args=(name,)) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads[1:]:
    thread.join()
while threads[0].is_alive():
    box.put(("main", 0))
    threads[0].join(0.001)

print("got", {kind: sum(g[0] == kind for g in got) for kind in misses}, "misses", misses)
print("left over", box.qsize())
print("order", crc32(repr(got).encode()))
