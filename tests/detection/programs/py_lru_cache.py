"""Eviction between the look and the use: a cached key is thrown out before it is touched.

From: hand-made caches on OrderedDict.
Needs: the other thread's new key evicts the oldest one after the hit was seen. KeyError.
"""

import threading
from collections import OrderedDict
from contextlib import AbstractContextManager, nullcontext


class Cache:
    def __init__(self, guard: AbstractContextManager[object]) -> None:
        self.guard = guard
        self.entries = OrderedDict(a=1, b=2)

    def get(self, key: str) -> int:
        with self.guard:
            if key in self.entries:
                self.entries.move_to_end(key)
                return self.entries[key]
            self.entries[key] = len(key)
            if len(self.entries) > 2:
                self.entries.popitem(last=False)
            return 1


def run(cache: Cache) -> None:
    threads = [threading.Thread(target=cache.get, args=(key,)) for key in ("a", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache.entries) == 2


def buggy() -> None:
    run(Cache(nullcontext()))


def safe() -> None:
    run(Cache(threading.Lock()))
