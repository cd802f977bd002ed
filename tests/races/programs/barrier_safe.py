"""Each writes its own before the barrier, and reads the others' after it; and so on."""

import threading

from _shared import run

barrier = threading.Barrier(3)
cells = [0, 0, 0]
sums = [0, 0, 0]


def worker(index):
    def work():
        for step in range(3):
            cells[index] = step
            barrier.wait()
            sums[index] += cells[0] + cells[1] + cells[2]
            barrier.wait()

    return work


run(worker(0), worker(1), worker(2))
assert sums == [9, 9, 9]
