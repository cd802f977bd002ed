# reenact-test: layout=yes
"""Addresses reused: an unsafe cache keyed by id() of objects that have died.

Varies: how many stale entries are hit, and which.
"""

import threading
from zlib import crc32

names_by_id = {}
stale = []


class Request:
    def __init__(self, name):
        self.name = name


def handle(request):
    known = names_by_id.get(id(request))
    if known is not None and known != request.name:
        stale.append((request.name, known))
    names_by_id[id(request)] = request.name


def work(name):
    alive = []
    for step in range(60):
        request = Request(f"{name}{step}")
        handle(request)
        alive.append(request)
        if len(alive) > 5:
            del alive[step % 5]


threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("addresses", len(names_by_id), "stale", len(stale))
print("stale", stale[:8], crc32(repr(stale).encode()))
print("by address", [names_by_id[key] for key in sorted(names_by_id)][:20])
