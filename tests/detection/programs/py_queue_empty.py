"""Queue.empty, then get_nowait: two readers see the last item.

From: drain loops.
Needs: both readers ask before either takes. The second take raises queue.Empty.
"""

import queue
import threading
from collections.abc import Callable

Jobs = queue.Queue[int]


def drain(jobs: Jobs, got: list[int]) -> None:
    while not jobs.empty():
        got.append(jobs.get_nowait())


def drain_trying(jobs: Jobs, got: list[int]) -> None:
    while True:
        try:
            got.append(jobs.get_nowait())
        except queue.Empty:
            return


def run(target: Callable[[Jobs, list[int]], None]) -> None:
    jobs: Jobs = queue.Queue()
    jobs.put(1)
    got: list[int] = []
    threads = [threading.Thread(target=target, args=(jobs, got)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [1]


def buggy() -> None:
    run(drain)


def safe() -> None:
    run(drain_trying)
