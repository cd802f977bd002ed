"""Weak references: callbacks run in whichever thread drops the last strong one.

Varies: that thread, the order of callbacks, what a WeakValueDictionary still holds.
"""

import threading
import weakref
from zlib import crc32


class Item:
    def __init__(self, number):
        self.number = number


log = []
shared = {}
cache = weakref.WeakValueDictionary()
references = []


def noted(number):
    def callback(reference):
        log.append((number, threading.current_thread().name, reference() is None))

    return callback


def work(name):
    for step in range(40):
        item = cache.get(step % 10)
        if item is None:
            item = Item(step)
            cache[step % 10] = item
            references.append(weakref.ref(item, noted(step)))
        shared[step % 4] = item
        log.append((name, len(cache)))


threads = [threading.Thread(target=work, args=(name,), name=name) for name in "abc"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("cache", [(key, item.number) for key, item in sorted(cache.items())])
shared.clear()
gone = [entry for entry in log if len(entry) == 3]
print("made", len(references), "gone", len(gone), "left", len(cache))
names = [name for _, name, _ in gone]
print("by thread", {name: names.count(name) for name in ("a", "b", "c", "MainThread")})
print("log", crc32(repr(log).encode()))
