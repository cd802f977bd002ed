"""Lost notify: a client decides to wait, and waits later; the notify comes in between.

From: Liveness, IBM Concurrency Testing Repository (Dormancy, Lost notify).
Needs: the server is full as the second client asks, and the first client leaves after the
second has been refused but before it waits. The second client then sleeps for ever.
"""

import threading
from collections.abc import Callable


class Server:
    def __init__(self) -> None:
        self.freed = threading.Condition()
        self.busy = False
        self.served = 0

    def try_enter(self) -> bool:
        with self.freed:
            if self.busy:
                return False
            self.busy = True
            return True

    def leave(self) -> None:
        with self.freed:
            self.busy = False
            self.served += 1
            self.freed.notify()

    def ask_then_wait(self) -> None:
        while not self.try_enter():
            with self.freed:
                self.freed.wait()
        self.leave()

    def ask_and_wait(self) -> None:
        with self.freed:
            while self.busy:
                self.freed.wait()
            self.busy = True
        self.leave()


def run(server: Server, client: Callable[[], None]) -> None:
    threads = [threading.Thread(target=client) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.served == 2


def buggy() -> None:
    server = Server()
    run(server, server.ask_then_wait)


def safe() -> None:
    server = Server()
    run(server, server.ask_and_wait)
