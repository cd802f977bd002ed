"""Condition for wait: passengers wait for the seat with `if`, and all are woken at once.

From: Piper, IBM Concurrency Testing Repository.
Needs: a passenger waits for the seat; it is freed, and someone else sits down before the woken
passenger goes on, who then sits down without another look.
"""

import threading
from collections.abc import Callable


class Plane:
    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.aboard = 0
        self.most = 0

    def sit_down(self) -> None:
        self.aboard += 1
        self.most = max(self.most, self.aboard)

    def leave(self) -> None:
        with self.changed:
            self.aboard -= 1
            self.changed.notify_all()

    def fly_if(self) -> None:
        with self.changed:
            if self.aboard == 1:
                self.changed.wait()
            self.sit_down()
        self.leave()

    def fly_while(self) -> None:
        with self.changed:
            while self.aboard == 1:
                self.changed.wait()
            self.sit_down()
        self.leave()


def run(plane: Plane, fly: Callable[[], None]) -> None:
    threads = [threading.Thread(target=fly) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert plane.most == 1


def buggy() -> None:
    plane = Plane()
    run(plane, plane.fly_if)


def safe() -> None:
    plane = Plane()
    run(plane, plane.fly_while)
