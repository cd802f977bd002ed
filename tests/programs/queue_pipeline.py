"""A pipeline of four stages with two workers each, on bounded queues.

Varies: the order in which results come out, which worker handled what.
"""

import queue
import threading
from zlib import crc32

STAGES = 4
WORKERS = 2

queues = [queue.Queue(maxsize=4) for _ in range(STAGES + 1)]
handled = [0] * (STAGES * WORKERS)


def work(stage, worker):
    while True:
        item = queues[stage].get()
        if item is None:
            return
        handled[stage * WORKERS + worker] += 1
        queues[stage + 1].put(item * 3 + stage)


def drain():
    while (item := queues[STAGES].get()) is not None:
        results.append(item)


results = []
stages = [
    [threading.Thread(target=work, args=(stage, worker)) for worker in range(WORKERS)]
    for stage in range(STAGES)
]
sink = threading.Thread(target=drain)
sink.start()
for stage in stages:
    for thread in stage:
        thread.start()
for number in range(50):
    queues[0].put(number)
for place, stage in enumerate(stages):
    for _ in stage:
        queues[place].put(None)
    for thread in stage:
        thread.join()
queues[STAGES].put(None)
sink.join()

print("results", len(results), sum(results), crc32(repr(results).encode()))
print("in order", results == sorted(results))
print("handled", handled)
