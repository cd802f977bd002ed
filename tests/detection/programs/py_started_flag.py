"""Handshake too early: a background thread says that it is ready before it has what others use.

From: start-up of daemon threads.
Needs: the main thread goes on between the word and the connection. AttributeError on None.
"""

import threading


class Connection:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, text: str) -> None:
        self.sent.append(text)


class Daemon:
    def __init__(self, connects_first: bool) -> None:
        self.connects_first = connects_first
        self.ready = threading.Event()
        self.connection: Connection | None = None

    def run(self) -> None:
        if self.connects_first:
            self.connection = Connection()
            self.ready.set()
        else:
            self.ready.set()
            self.connection = Connection()

    def send(self, text: str) -> None:
        self.connection.send(text)  # type: ignore[union-attr]


def run(daemon: Daemon) -> None:
    sent = []

    def use() -> None:
        daemon.ready.wait()
        daemon.send("hello")
        sent.append("hello")

    threads = [
        threading.Thread(target=daemon.run, daemon=True),
        threading.Thread(target=use),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sent == ["hello"]


def buggy() -> None:
    run(Daemon(connects_first=False))


def safe() -> None:
    run(Daemon(connects_first=True))
