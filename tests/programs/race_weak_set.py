"""A WeakSet that two threads add to and a third goes over, while what is in it dies.

Varies: how many were found each time, and whether the set changed meanwhile.
"""

import threading
import weakref
from zlib import crc32


class Item:
    pass


items = weakref.WeakSet()
kept = {}
found = []


def add(name):
    for number in range(150):
        item = kept[name, number % 40] = Item()
        items.add(item)


def look(name):
    for _ in range(8):
        try:
            found.append((name, len(list(items))))
        except RuntimeError as error:
            found.append((name, str(error)))


threads = [threading.Thread(target=work, args=(work.__name__,)) for work in (add, look)]
threads.append(threading.Thread(target=add, args=("again",)))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("left", len(items), "of", len(kept))
print("found", len(found), crc32(repr(found).encode()))
