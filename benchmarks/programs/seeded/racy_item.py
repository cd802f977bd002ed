"""Racy: a dictionary in which two threads count the same words."""

import threading

WORDS = ["to", "be", "or", "not", "to", "be"]

counts = dict.fromkeys(WORDS, 0)


def count() -> None:
    """Read an item, add, write it."""
    for _ in range(30):
        for word in WORDS:
            counts[word] = counts[word] + 1  # racy


threads = [threading.Thread(target=count) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("counted", sum(counts.values()))
