"""Freed too early: the queue's lock is dropped as soon as the worker has said that it is done.

From: pbzip2-0.9.4, SCTBench (CB).
Needs: the main thread drops the lock between the worker's word and the worker's last use of it.
"""

import threading


class Queue:
    def __init__(self) -> None:
        self.lock: threading.Lock | None = threading.Lock()
        self.blocks = [1, 2]
        self.empty = threading.Event()
        self.written: list[int] = []

    def work(self) -> None:
        while not self.empty.is_set():
            assert self.lock is not None
            with self.lock:
                self.written.append(self.blocks.pop(0))
                left = len(self.blocks)
            if left == 0:
                self.empty.set()
        self.close()

    def close(self) -> None:
        lock = self.lock
        lock.acquire()  # type: ignore[union-attr]
        self.blocks.clear()
        lock.release()  # type: ignore[union-attr]


def run(queue: Queue, joins_first: bool) -> None:
    worker = threading.Thread(target=queue.work)
    worker.start()
    if joins_first:
        worker.join()
    else:
        queue.empty.wait()
    queue.lock = None
    worker.join()
    assert queue.written == [1, 2]


def buggy() -> None:
    run(Queue(), joins_first=False)


def safe() -> None:
    run(Queue(), joins_first=True)
