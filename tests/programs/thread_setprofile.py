"""threading.setprofile: a profile function in all threads, counting calls and returns.

Varies: the order of calls of different threads, lost updates of the unlocked counts.
"""

import threading
from zlib import crc32

counts = {}
order = []


def profile(frame, event, argument):
    if frame.f_code.co_filename != __file__ or event not in ("call", "return"):
        return
    key = (frame.f_code.co_name, event)
    counts[key] = same(counts.get(key, 0)) + 1
    order.append((threading.current_thread().name, *key))


def same(value):
    return value


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work(n):
    for k in range(n):
        fibonacci(k)


threading.setprofile(profile)
threads = [threading.Thread(target=work, args=(7,), name=f"t{n}") for n in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
threading.setprofile(None)

for key in sorted(counts):
    print(*key, counts[key])
print("order", len(order), crc32(repr(order).encode()))
