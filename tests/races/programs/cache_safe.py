"""A cache has a lock for its entries and the count of its hits, and one for each entry."""

import threading

from _shared import run


class Entry:
    def __init__(self):
        self.lock = threading.Lock()
        self.value = None


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.entries = {}
        self.hits = 0

    def get(self, key):
        with self.lock:
            entry = self.entries.get(key)
            if entry is None:
                entry = self.entries[key] = Entry()
            self.hits += 1
        with entry.lock:
            if entry.value is None:
                entry.value = key * 2
            return entry.value


cache = Cache()


def use():
    for key in (1, 2, 1):
        assert cache.get(key) == key * 2


run(use, use)
assert cache.hits == 6
