"""queue.LifoQueue: a shared stack of work that makes more work (a tree walk).

Varies: the order of visits, who visited what, the depth of the stack.
"""

import queue
import threading
from zlib import crc32

work = queue.LifoQueue()
visits = []
depths = []


def walk(name):
    while True:
        node = work.get()
        if node is None:
            work.task_done()
            return
        visits.append((name, node))
        for child in (2 * node, 2 * node + 1):
            if child < 64:
                work.put(child)
        depths.append(work.qsize())
        work.task_done()


threads = [threading.Thread(target=walk, args=(name,)) for name in "abc"]
work.put(1)
for thread in threads:
    thread.start()
work.join()
for _ in threads:
    work.put(None)
for thread in threads:
    thread.join()

print("visited", len(visits), [sum(name == who for who, _ in visits) for name in "abc"])
print("order", [node for _, node in visits])
print("depths", max(depths), crc32(repr(depths).encode()))
