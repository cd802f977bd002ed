"""Event cleared after the work: what was signalled during the work is forgotten.

From: wake-up events of worker loops.
Needs: the second item, and its signal, come after the worker found nothing more and before it
clears the event. The worker then waits for ever.
"""

import threading


class Worker:
    def __init__(self, clears_first: bool) -> None:
        self.clears_first = clears_first
        self.wake_up = threading.Event()
        self.items: list[int] = []
        self.done: list[int] = []

    def submit(self) -> None:
        for item in (1, 2):
            self.items.append(item)
            self.wake_up.set()

    def work(self) -> None:
        while len(self.done) < 2:
            self.wake_up.wait()
            if self.clears_first:
                self.wake_up.clear()
            while self.items:
                self.done.append(self.items.pop(0))
            if not self.clears_first:
                self.wake_up.clear()


def run(worker: Worker) -> None:
    threads = [threading.Thread(target=target) for target in (worker.work, worker.submit)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worker.done == [1, 2]


def buggy() -> None:
    run(Worker(clears_first=False))


def safe() -> None:
    run(Worker(clears_first=True))
