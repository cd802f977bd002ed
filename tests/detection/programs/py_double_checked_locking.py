"""Single-checked locking: the check is made before the lock is taken, and not again under it.

From: lazy connections.
Needs: both threads check before the first has connected; the second connects once more.
"""

import threading
from collections.abc import Callable


class Client:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.connected = False
        self.connects = 0

    def connect(self) -> None:
        self.connects += 1
        self.connected = True

    def ensure_once_checked(self) -> None:
        if not self.connected:
            with self.lock:
                self.connect()

    def ensure_twice_checked(self) -> None:
        if not self.connected:
            with self.lock:
                if not self.connected:
                    self.connect()


def run(client: Client, ensure: Callable[[], None]) -> None:
    threads = [threading.Thread(target=ensure) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.connects == 1


def buggy() -> None:
    client = Client()
    run(client, client.ensure_once_checked)


def safe() -> None:
    client = Client()
    run(client, client.ensure_twice_checked)
