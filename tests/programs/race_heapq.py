"""A heap of objects with a Python `__lt__`, so threads can switch inside heapq's C code.

Varies: the order of pops, whether the heap invariant still holds, comparisons made.
"""

import heapq
import threading
from zlib import crc32

heap = []
popped = []
comparisons = 0


class Job:
    def __init__(self, rank, owner):
        self.rank = rank
        self.owner = owner

    def __lt__(self, other):
        global comparisons
        comparisons = comparisons + 1
        return self.rank < other.rank


def work(name):
    for step in range(60):
        heapq.heappush(heap, Job((step * 37 + name) % 50, name))
        if step % 2:
            pop(name)


def pop(name):
    try:
        job = heapq.heappop(heap)
        popped.append((name, job.rank, job.owner))
    except (IndexError, RuntimeError) as error:
        popped.append((name, str(error)))


threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

ranks = [job.rank for job in heap]
is_heap = all(ranks[(i - 1) // 2] <= ranks[i] for i in range(1, len(ranks)))
print("left", len(heap), "is a heap", is_heap, "comparisons", comparisons)
print("popped", len(popped), crc32(repr(popped).encode()))
print("ranks left", ranks)
