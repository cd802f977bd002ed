"""Thread-local leak: a worker keeps the user of one request for the next one.

From: web workers that keep the current user in a threading.local.
Needs: the request with a user comes before the one without, which was sent first.
"""

import queue
import threading


class Server:
    def __init__(self, cleans_up: bool) -> None:
        self.cleans_up = cleans_up
        self.requests: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.local = threading.local()
        self.answers: list[tuple[str | None, str | None]] = []

    def send(self, user: str | None) -> None:
        self.requests.put(user)

    def handle(self, user: str | None) -> None:
        if user is not None:
            self.local.user = user
        self.answers.append((user, getattr(self.local, "user", None)))
        if self.cleans_up:
            self.local.user = None

    def work(self) -> None:
        for _ in range(2):
            self.handle(self.requests.get())


def run(server: Server) -> None:
    threads = [
        threading.Thread(target=server.work),
        threading.Thread(target=server.send, args=(None,)),
        threading.Thread(target=server.send, args=("ann",)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(sent == seen for sent, seen in server.answers)


def buggy() -> None:
    run(Server(cleans_up=False))


def safe() -> None:
    run(Server(cleans_up=True))
