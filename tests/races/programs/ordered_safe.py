"""A cache that forgets what was not used for long: an OrderedDict with a lock."""

import threading
from collections import OrderedDict

from _shared import run


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.entries = OrderedDict()

    def get(self, key):
        with self.lock:
            if key in self.entries:
                self.entries.move_to_end(key)
            else:
                self.entries[key] = key * 2
            if len(self.entries) > 3:
                self.entries.popitem(last=False)
            return self.entries[key]


cache = Cache()


def use():
    for number in range(8):
        assert cache.get(number % 5) == number % 5 * 2


run(use, use)
