"""Orphaned thread: a worker's slip makes the master give up, and the workers wait for ever.

From: Producer Consumer, IBM Concurrency Testing Repository.
Needs: the master looks at the buffer after a worker has taken an item and before that worker has
counted it. The master sees a damaged buffer and goes; nobody tells the workers to stop.
"""

import threading


class Buffer:
    def __init__(self, counts_at_once: bool) -> None:
        self.changed = threading.Condition()
        self.counts_at_once = counts_at_once
        self.items: list[str] = []
        self.count = 0

    def put(self, item: str) -> None:
        with self.changed:
            if self.count != len(self.items):
                raise LookupError("the buffer is damaged")
            self.items.append(item)
            self.count += 1
            self.changed.notify()

    def get(self) -> str:
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.pop(0)
            if self.counts_at_once:
                self.count -= 1
        if not self.counts_at_once:
            with self.changed:
                self.count -= 1
        return item


def run(buffer: Buffer) -> None:
    def master() -> None:
        try:
            for item in ("work", "stop", "stop"):
                buffer.put(item)
        except LookupError:
            return

    def worker() -> None:
        while buffer.get() != "stop":
            pass

    threads = [threading.Thread(target=target) for target in (master, worker, worker)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert buffer.items == []
    assert buffer.count == 0


def buggy() -> None:
    run(Buffer(counts_at_once=False))


def safe() -> None:
    run(Buffer(counts_at_once=True))
