"""Two threads in a recursion so deep that the C stack of each is large, too."""

import functools
import sys
import threading

sys.setrecursionlimit(20_000)
threading.stack_size(64 << 20)
found = []


def descend(depth, found):
    if depth == 0:
        return 0
    if depth % 100 == 0:
        found.append(depth)
    return functools.partial(descend, depth - 1, found)() + 1  # by way of C


threads = [threading.Thread(target=descend, args=(800, found)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), descend(300, found))
