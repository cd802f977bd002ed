"""Queue.shutdown (3.13), gentle and immediate, with threads blocked in put and get.

Varies: how many items got through. Before 3.13 sentinels stand in for it.
"""

import queue
import threading

HAS_SHUTDOWN = hasattr(queue.Queue, "shutdown")
Closed = getattr(queue, "ShutDown", queue.Full)
log = []


def put(box, name):
    for number in range(30):
        try:
            box.put(number, timeout=None if HAS_SHUTDOWN else 0.01)
        except Closed as error:
            log.append((name, "put stopped by", type(error).__name__, number))
            return
    log.append((name, "put all"))


def get(box, name):
    count = 0
    while True:
        try:
            if box.get() is None:
                break
            count += 1
        except Closed:
            break
    log.append((name, "got", count))


def close(box, immediate, getters):
    if HAS_SHUTDOWN:
        box.shutdown(immediate=immediate)
        return
    for _ in range(getters):
        box.put(None)


for immediate in (False, True):
    box = queue.Queue(maxsize=4)
    threads = [threading.Thread(target=put, args=(box, f"p{n}")) for n in range(2)]
    threads += [threading.Thread(target=get, args=(box, f"g{n}")) for n in range(2)]
    for thread in threads:
        thread.start()
    close(box, immediate, getters=2)
    for thread in threads:
        thread.join()
    log.append(("immediate", immediate, "left", box.qsize()))

for entry in log:
    print(*entry)
