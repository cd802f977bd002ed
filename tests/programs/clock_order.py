"""Clocks read by several threads: events sorted by time stamp, ties and order printed.

Varies: the order; no time itself is printed.
"""

import threading
import time

stamps = []


def work(name):
    for step in range(15):
        stamps.append((time.monotonic_ns(), time.perf_counter_ns(), name, step))


threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

by_monotonic = [f"{name}{step}" for _, _, name, step in sorted(stamps)]
by_counter = [f"{name}{step}" for _, _, name, step in sorted(stamps, key=lambda s: s[1])]
by_append = [f"{name}{step}" for _, _, name, step in stamps]
print("by time", by_monotonic)
print("counter agrees", by_counter == by_monotonic, "appended agrees", by_append == by_monotonic)
parities = "".join(str(stamp % 2) for stamp, *_ in stamps)
print("parities", parities)
print("wall clock after 2020", time.time() > 1577836800)
