"""Event.wait with timeouts around the moment at which the event is set.

Varies: which waits succeed, and how many rounds a heartbeat makes.
"""

import threading
import time

ready = threading.Event()
stop = threading.Event()
results = []
beats = 0


def wait(name, seconds):
    results.append((name, ready.wait(timeout=seconds), ready.is_set()))


def heartbeat():
    global beats
    while not stop.wait(0.001):
        beats += 1


threads = [threading.Thread(target=wait, args=(f"{ms} ms", ms / 1000)) for ms in (0, 4, 5, 6, 40)]
threads.append(threading.Thread(target=heartbeat))
for thread in threads:
    thread.start()
time.sleep(0.005)
ready.set()
time.sleep(0.003)
stop.set()
for thread in threads:
    thread.join()

for result in results:
    print(*result)
print("beats", beats)
