# reenact-test: layout=yes
"""Cycles with `__del__` made by many threads, collected whenever the collector happens to run.

Varies: which thread collected whose garbage and in which order.
"""

import gc
import threading
from zlib import crc32

gc.set_threshold(60, 3, 3)
buried = []


class Node:
    def __init__(self, owner, number):
        self.owner = owner
        self.number = number
        self.me = self

    def __del__(self):
        buried.append((self.owner, self.number, threading.current_thread().name))


def work(owner):
    for number in range(60):
        first, second = Node(owner, number), Node(owner, -number)
        first.friend, second.friend = second, first


threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

early = len(buried)
gc.collect()
print("buried early", early, "in all", len(buried))
for name in "abcd":
    diggers = [digger for owner, _, digger in buried if owner == name]
    print(name, {digger: diggers.count(digger) for digger in sorted(set(diggers))})
print("order", crc32(repr(buried).encode()))
