"""Work until a deadline: how much gets done depends on the clock and on the other threads.

Varies: every count.
"""

import threading
import time

counts = {}


def work(name, milliseconds):
    deadline = time.monotonic() + milliseconds / 1000
    count = 0
    while time.monotonic() < deadline:
        for _ in range(20):
            count += 1
    counts[name] = count


threads = [threading.Thread(target=work, args=(f"{ms} ms", ms)) for ms in (1, 2, 3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, count in counts.items():
    print(name, count)
