"""Racy: a global that is counted by two threads."""

import threading

counter = 0


def count() -> None:
    """Read, add, write."""
    global counter
    for _ in range(200):
        counter += 1  # racy


threads = [threading.Thread(target=count) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counter", counter)
