"""queue.PriorityQueue with a Python `__lt__`, so comparing happens under the queue's lock.

Varies: the order in which items come out (by priority, among those already in).
"""

import functools
import itertools
import queue
import threading
from zlib import crc32


@functools.total_ordering
class Task:
    def __init__(self, rank, owner):
        self.rank = rank
        self.owner = owner

    def __eq__(self, other):
        return self.rank == other.rank

    def __lt__(self, other):
        return self.rank < other.rank


tasks = queue.PriorityQueue(maxsize=10)
taken = []


def produce(owner):
    for number in range(25):
        tasks.put(Task((number * 17) % 23, owner))


def consume(count):
    for _ in range(count):
        task = tasks.get()
        taken.append((task.rank, task.owner))


threads = [threading.Thread(target=produce, args=(owner,)) for owner in "abc"]
threads += [threading.Thread(target=consume, args=(count,)) for count in (30, 45)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

inversions = sum(a > b for a, b in itertools.pairwise(taken))
print("taken", len(taken), "inversions", inversions)
print("ranks", [rank for rank, _ in taken])
print("owners", "".join(owner for _, owner in taken), crc32(repr(taken).encode()))
