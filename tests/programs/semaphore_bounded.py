"""BoundedSemaphore: a pool of connections, with timeouts, and a release too many.

Varies: who got which connection, who gave up, who made the extra release.
"""

import threading
import time

pool = threading.BoundedSemaphore(2)
connections = ["red", "blue"]
log = []


def use(name):
    for turn in range(3):
        if not pool.acquire(timeout=0.002):
            log.append((name, turn, "gave up"))
            continue
        connection = connections.pop()
        log.append((name, turn, connection))
        time.sleep(0.001)
        connections.append(connection)
        pool.release()


def release_too_often(name):
    try:
        pool.release()
        log.append((name, "released"))
    except ValueError as error:
        log.append((name, str(error)))


def run(target, names):
    threads = [threading.Thread(target=target, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


run(use, "abcdef")
pool.acquire()
run(release_too_often, "xyz")
for entry in log:
    print(*entry)
print("connections", connections)
