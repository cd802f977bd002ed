"""Missing barrier: workers meet before the results are read, but not before they are overwritten.

From: streamcluster, SCTBench (PARSEC).
Needs: one worker starts its second round while the other still adds up the first one.
"""

import threading

ROUNDS = 2


class Cluster:
    def __init__(self, meets_twice: bool) -> None:
        self.meets_twice = meets_twice
        self.barrier = threading.Barrier(2)
        self.costs = [0, 0]
        self.totals: list[int] = []

    def work(self, me: int) -> None:
        for turn in range(1, ROUNDS + 1):
            self.costs[me] = turn
            self.barrier.wait()
            if me == 1:
                self.totals.append(self.costs[0] + self.costs[1])
            if self.meets_twice:
                self.barrier.wait()


def run(cluster: Cluster) -> None:
    threads = [threading.Thread(target=cluster.work, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cluster.totals == [2, 4]


def buggy() -> None:
    run(Cluster(meets_twice=False))


def safe() -> None:
    run(Cluster(meets_twice=True))
