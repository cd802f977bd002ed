"""Check, then count: a request looks whether the driver is stopping, and only then counts itself.

From: bluetooth_driver_bad, SCTBench (CS).
Needs: the driver stops completely between the request's look and its count.
"""

import threading
from collections.abc import Callable


class Driver:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.pending = 1
        self.stopping = False
        self.stopped = False
        self.idle = threading.Event()
        self.late_uses = 0

    def enter(self) -> None:
        with self.lock:
            self.pending += 1

    def leave(self) -> None:
        with self.lock:
            self.pending -= 1
            if self.pending == 0:
                self.idle.set()

    def use(self) -> None:
        if self.stopped:
            self.late_uses += 1

    def request_look_first(self) -> None:
        if self.stopping:
            return
        self.enter()
        self.use()
        self.leave()

    def request_count_first(self) -> None:
        self.enter()
        if not self.stopping:
            self.use()
        self.leave()

    def stop(self) -> None:
        self.stopping = True
        self.leave()
        self.idle.wait()
        self.stopped = True


def run(driver: Driver, request: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (request, driver.stop)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert driver.late_uses == 0


def buggy() -> None:
    driver = Driver()
    run(driver, driver.request_look_first)


def safe() -> None:
    driver = Driver()
    run(driver, driver.request_count_first)
