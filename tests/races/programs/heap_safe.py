"""Two threads push onto a heap and pop from it, with the lock."""

import heapq
import threading

from _shared import run

heap = [1, 5, 7]
lock = threading.Lock()


def use():
    with lock:
        heapq.heappush(heap, 3)
        return heapq.heappop(heap) + len(heap)


run(use, use)
