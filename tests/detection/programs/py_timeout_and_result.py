"""Timeout and result at once: the waiter gives up while the worker delivers; both count.

From: requests with a deadline and a fallback.
Needs: the deadline passes after the worker saw that nobody has given up, before it delivers.
"""

import threading


class Request:
    def __init__(self, claims: bool) -> None:
        self.claims = claims
        self.lock = threading.Lock()
        self.finished = threading.Event()
        self.closed = False
        self.answers: list[str] = []

    def close(self) -> bool:
        with self.lock:
            was_open = not self.closed
            self.closed = True
            return was_open

    def deliver(self) -> None:
        if self.claims:
            if self.close():
                self.answers.append("result")
        elif not self.closed:
            self.answers.append("result")
        self.finished.set()

    def wait(self) -> None:
        if self.finished.wait(0.5):
            return
        if self.claims:
            if self.close():
                self.answers.append("fallback")
        else:
            self.closed = True
            self.answers.append("fallback")


def run(request: Request) -> None:
    threads = [threading.Thread(target=target) for target in (request.deliver, request.wait)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(request.answers) == 1


def buggy() -> None:
    run(Request(claims=False))


def safe() -> None:
    run(Request(claims=True))
