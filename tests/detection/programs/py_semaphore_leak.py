"""Semaphore leak: the permit is not given back when the work raises.

From: connection limits.
Needs: the first worker runs while the service is paused; its error is caught, its permit is gone,
and the other worker waits for ever.
"""

import threading
from collections.abc import Callable


class Service:
    def __init__(self) -> None:
        self.permits = threading.Semaphore(1)
        self.paused = False

    def pause_and_resume(self) -> None:
        self.paused = True
        self.paused = False

    def request(self) -> None:
        if self.paused:
            raise ConnectionError("paused")

    def work_leaking(self) -> None:
        try:
            self.permits.acquire()
            self.request()
            self.permits.release()
        except ConnectionError:
            pass

    def work(self) -> None:
        try:
            with self.permits:
                self.request()
        except ConnectionError:
            pass


def run(service: Service, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=target) for target in (work, service.pause_and_resume, work)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not service.paused


def buggy() -> None:
    service = Service()
    run(service, service.work_leaking)


def safe() -> None:
    service = Service()
    run(service, service.work)
