"""Lock.acquire without blocking, with a timeout, and locked().

Varies: who got the lock, who gave up, what locked() said.
"""

import threading
import time

lock = threading.Lock()
outcomes = []


def try_now(name):
    for step in range(25):
        if lock.acquire(blocking=False):
            outcomes.append((name, step, "got"))
            note()
            lock.release()
        else:
            outcomes.append((name, step, "busy"))


def try_for(name, seconds):
    for step in range(4):
        if lock.acquire(timeout=seconds):
            outcomes.append((name, step, "got in time"))
            time.sleep(0.002)
            lock.release()
        else:
            outcomes.append((name, step, "too late", lock.locked()))


def note():
    return lock.locked()


threads = [threading.Thread(target=try_now, args=(name,)) for name in "ab"]
threads += [threading.Thread(target=try_for, args=(f"t{ms}", ms / 1000)) for ms in (1, 2, 4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for outcome in outcomes:
    print(*outcome)
print("locked at the end", lock.locked())
