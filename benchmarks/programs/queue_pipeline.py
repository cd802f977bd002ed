"""Threads: 100,000 items through a pipeline of four stages on bounded queues."""

from __future__ import annotations

import queue
import threading
import time

ITEMS = 100_000
STAGES = 4
MAXSIZE = 100

END = -1


def work(source: queue.Queue[int], target: queue.Queue[int], stage: int) -> None:
    """Take, change, pass on."""
    while (item := source.get()) != END:
        target.put((item * 3 + stage) % 1_000_003)
    target.put(END)


def feed(target: queue.Queue[int]) -> None:
    """Put all items, then the end."""
    for item in range(ITEMS):
        target.put(item)
    target.put(END)


def main() -> None:
    """Build the pipeline and drain it."""
    queues: list[queue.Queue[int]] = [queue.Queue(MAXSIZE) for _ in range(STAGES + 1)]
    threads = [
        threading.Thread(target=work, args=(queues[stage], queues[stage + 1], stage))
        for stage in range(STAGES)
    ]
    threads.append(threading.Thread(target=feed, args=(queues[0],)))
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    total = 0
    while (item := queues[STAGES].get()) != END:
        total += item
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    print("total", total)
    print(f"elapsed {elapsed:.6f}")


main()
