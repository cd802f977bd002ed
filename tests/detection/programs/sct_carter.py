"""Lock order through a shared gate: the first of a group takes the road while it holds the gate.

From: carter01_bad, SCTBench (CS).
Needs: one group is on the road, and the other waits for the road with the gate in its hand, which
the first group needs to leave. Deadlock.
"""

import threading


class Group:
    def __init__(self, gate: threading.Lock, road: threading.Lock) -> None:
        self.gate = gate
        self.road = road
        self.size = 0

    def enter(self) -> None:
        with self.gate:
            self.size += 1
            if self.size == 1:
                self.road.acquire()

    def leave(self) -> None:
        with self.gate:
            self.size -= 1
            if self.size == 0:
                self.road.release()

    def travel(self) -> None:
        self.enter()
        self.leave()


def run(east: Group, west: Group) -> None:
    threads = [threading.Thread(target=target) for target in (east.travel, west.travel)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert east.size == west.size == 0


def buggy() -> None:
    gate, road = threading.Lock(), threading.Lock()
    run(Group(gate, road), Group(gate, road))


def safe() -> None:
    road = threading.Lock()
    run(Group(threading.Lock(), road), Group(threading.Lock(), road))
