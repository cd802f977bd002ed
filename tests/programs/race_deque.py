"""A bounded deque and an OrderedDict shared without locks.

Varies: what is left in both, 'deque mutated during iteration' and KeyErrors met.
"""

import collections
import threading
from zlib import crc32

recent = collections.deque(maxlen=20)
cache = collections.OrderedDict()
trace = []


def same(value):
    return value


def work(name):
    for step in range(100):
        recent.append((name, step))
        use_cache(name, step % 11)
        if step % 5 == 0:
            scan(name)


def use_cache(name, key):
    try:
        if same(key) in cache:
            cache.move_to_end(key)
        else:
            cache[key] = name
        if len(cache) > 6:
            trace.append(cache.popitem(last=False))
    except KeyError as error:
        trace.append((name, "KeyError", str(error)))


def scan(name):
    try:
        trace.append(sum(same(step) for _, step in recent))
    except RuntimeError as error:
        trace.append((name, str(error)))


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

print("recent", list(recent))
print("cache", dict(cache))
print("errors", [entry for entry in trace if isinstance(entry, tuple) and "mutated" in entry])
print("trace", len(trace), crc32(repr(trace).encode()))
