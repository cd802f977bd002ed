"""Weak check of is_alive: a worker that has decided to end is still alive, and gets the job.

From: workers that are started on demand and end when there is nothing to do.
Needs: the second job, which mostly comes much later, is handed over after the worker found no job
and before its thread has ended. Nobody does the job, and the one who waits for it waits for ever.
"""

import threading
import time


class Worker:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.jobs: list[threading.Event] = []
        self.threads: list[threading.Thread] = []
        self.running = False
        self.farewells = 0

    def start(self) -> None:
        thread = threading.Thread(target=self.work)
        self.threads.append(thread)
        thread.start()

    def next_job(self) -> threading.Event | None:
        with self.lock:
            if self.jobs:
                return self.jobs.pop(0)
            self.running = False
            return None

    def work(self) -> None:
        while (job := self.next_job()) is not None:
            job.set()
        self.farewells += 1

    def submit_if_alive(self, job: threading.Event) -> None:
        with self.lock:
            self.jobs.append(job)
        if not self.threads or not self.threads[-1].is_alive():
            self.start()

    def submit_if_running(self, job: threading.Event) -> None:
        with self.lock:
            self.jobs.append(job)
            starts = not self.running
            self.running = True
        if starts:
            self.start()

    def join(self) -> None:
        for thread in self.threads:
            thread.join()


def run(weakly: bool) -> None:
    worker = Worker()
    jobs = [threading.Event(), threading.Event()]
    for job in jobs:
        if weakly:
            worker.submit_if_alive(job)
        else:
            worker.submit_if_running(job)
        job.wait()
        time.sleep(0.02)
    worker.join()
    assert worker.jobs == []


def buggy() -> None:
    run(weakly=True)


def safe() -> None:
    run(weakly=False)
