"""Daemon threads in short and in endless sleeps when main ends.

Varies: how many short sleeps were over.
"""

import threading
import time

naps = []


def nap(name, seconds):
    while True:
        time.sleep(seconds)
        naps.append(name)


for name, seconds in (("a", 0.001), ("b", 0.002), ("c", 3600)):
    threading.Thread(target=nap, args=(name, seconds), daemon=True).start()
time.sleep(0.008)
taken = naps[:]
print("naps", "".join(taken))
print("alive", threading.active_count())
