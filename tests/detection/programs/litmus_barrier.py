"""Flag set too early: the barrier opens before it has counted back to zero.

From: barrier, the litmus programs of CDSchecker and tsan11rec. Waiters wait for an event, not
in a loop.
Needs: the first thread leaves, and arrives for its second round, after the last one has opened
the barrier and before that one has reset the count. Both then wait for ever.
"""

import threading


class Barrier:
    def __init__(self, opens_early: bool) -> None:
        self.opens_early = opens_early
        self.lock = threading.Lock()
        self.waiting = 0
        self.gate = threading.Event()

    def count(self) -> int:
        with self.lock:
            self.waiting += 1
            return self.waiting

    def wait(self) -> None:
        gate = self.gate
        if self.count() != 2:
            gate.wait()
            return
        self.gate = threading.Event()
        if self.opens_early:
            gate.set()
        with self.lock:
            self.waiting = 0
        if not self.opens_early:
            gate.set()


def run(barrier: Barrier) -> None:
    def work() -> None:
        barrier.wait()
        barrier.wait()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert barrier.waiting == 0


def buggy() -> None:
    run(Barrier(opens_early=True))


def safe() -> None:
    run(Barrier(opens_early=False))
