"""Barrier.reset while threads wait, and a wait that times out and breaks the barrier.

Varies: who was thrown out by the reset, who timed out and who only found it broken.
"""

import threading
import time

barrier = threading.Barrier(4)
log = []


def stubborn(name):
    for attempt in range(50):
        try:
            log.append((name, "through", barrier.wait()))
            return
        except threading.BrokenBarrierError:
            log.append((name, "thrown out", attempt))


def reset():
    for _ in range(2):
        time.sleep(0.001)
        barrier.reset()
        log.append(("reset",))


threads = [threading.Thread(target=stubborn, args=(name,)) for name in "abc"]
threads.append(threading.Thread(target=reset))
for thread in threads:
    thread.start()
threads[-1].join()
stubborn("main")
for thread in threads:
    thread.join()
for entry in log:
    print(*entry)

short = threading.Barrier(4, timeout=0.004)
late = []


def give_up(name, seconds):
    try:
        late.append((name, short.wait(timeout=seconds)))
    except threading.BrokenBarrierError:
        late.append((name, "broken", short.n_waiting))


limits = {"x": 1, "y": 0.003, "z": None}
threads = [threading.Thread(target=give_up, args=limit) for limit in limits.items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(late, short.broken)
