"""Thread.join with timeouts, and one thread joined by several others.

Varies: how many joins timed out, the order in which joiners returned.
"""

import threading
import time

log = []


def sleep(seconds):
    time.sleep(seconds)
    log.append(("slept", seconds))


def join(name, thread):
    tries = 0
    while thread.is_alive():
        thread.join(timeout=0.001)
        tries += 1
    log.append((name, "joined after", tries))


sleepers = [threading.Thread(target=sleep, args=(ms / 1000,)) for ms in (3, 5)]
for sleeper in sleepers:
    sleeper.start()
joiners = [
    threading.Thread(target=join, args=(f"{name}{n}", sleeper))
    for n, sleeper in enumerate(sleepers)
    for name in "ab"
]
for joiner in joiners:
    joiner.start()
sleepers[1].join(timeout=0)
log.append(("main, at once", sleepers[1].is_alive()))
sleepers[1].join(timeout=-1)
log.append(("main, negative", sleepers[1].is_alive()))
for thread in joiners + sleepers:
    thread.join()

for entry in log:
    print(*entry)
