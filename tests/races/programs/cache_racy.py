"""A cache has a lock for its entries, and counts its hits without it."""

import threading

from _shared import run


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.entries = {"key": 1}
        self.hits = 0

    def get(self, key):
        with self.lock:
            found = self.entries[key]
        self.hits += 1  # at: count
        return found


cache = Cache()
run(lambda: cache.get("key"), lambda: cache.get("key"))
