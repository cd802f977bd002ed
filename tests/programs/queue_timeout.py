"""Queue.put and get with timeouts and without blocking: Full and Empty.

Varies: which calls succeed.
"""

import queue
import threading
import time

box = queue.Queue(maxsize=2)
log = []


def put(name):
    for number in range(6):
        try:
            box.put((name, number), timeout=0.002)
            log.append((name, "put", number))
        except queue.Full:
            log.append((name, "full", number))


def put_nowait(name):
    for number in range(6):
        try:
            box.put_nowait((name, number))
            log.append((name, "put", number))
        except queue.Full:
            log.append((name, "full", number))


def get(name):
    for _ in range(5):
        try:
            log.append((name, "got", *box.get(timeout=0.003)))
        except queue.Empty:
            log.append((name, "empty"))
        time.sleep(0.001)


threads = [
    threading.Thread(target=put, args=("a",)),
    threading.Thread(target=put_nowait, args=("b",)),
    threading.Thread(target=get, args=("x",)),
    threading.Thread(target=get, args=("y",)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

for entry in log:
    print(*entry)
print("left", list(box.queue))
