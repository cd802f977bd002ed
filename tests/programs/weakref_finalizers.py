# reenact-test: layout=yes
"""Objects with finalizers, called by weak references while threads drop the last strong ones.

Varies: which thread runs `__del__`, `weakref.finalize` and the end of a generator; whether others
find the object dead before, and whom it still counts.
"""

import threading
import weakref
from zlib import crc32

log = []
shared = {}
weak = {}
callbacks = []


def told(what, number):
    log.append((what, number, threading.current_thread().name))


class Item:
    def __init__(self, number):
        self.number = number

    def __del__(self):
        told("del", self.number)


def lines(number):
    try:
        while True:
            yield number
    finally:
        told("closed", number)


def make(number):
    if number % 3 == 0:
        made = lines(number)
        next(made)
        return made
    item = Item(number)
    if number % 3 == 1:
        weakref.finalize(item, told, "finalize", number)
    return item


def dead(number):
    def callback(_):
        told("dead", number)

    callbacks.append(callback)
    return callback


def work(name, first):
    for number in range(first, first + 40):
        item = make(number)
        weak[number % 6] = weakref.ref(item, dead(number))
        shared[number % 6] = item
        for slot in range(6):
            reference = weak.get(slot)
            found = reference and reference()
            if found is None:
                log.append(("gone", slot, name))
            elif slot == 0:
                log.append(("references", weakref.getweakrefcount(found), name))


threads = [threading.Thread(target=work, args=(str(n), 100 * n)) for n in range(1, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(each.__callback__ in (*callbacks, None) for each in weak.values())
shared.clear()

for what in ("del", "closed", "finalize", "dead", "gone", "references"):
    found = [entry for entry in log if entry[0] == what]
    print(what, len(found), crc32(repr(found).encode()))
print("log", crc32(repr(log).encode()))
