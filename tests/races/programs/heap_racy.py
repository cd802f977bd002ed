"""One thread pushes onto a heap, another asks how large it is."""

import heapq

from _shared import run

heap = [1, 5, 7]


def push():
    heapq.heappush(heap, 3)  # at: push


def size():
    return len(heap)  # at: len


run(push, size)
