"""Condition.wait without a loop: a reader that never waited takes the item first.

From: hand-made queues.
Needs: one reader waits, the item is put, and the other reader takes it before the woken one runs.
That one takes from an empty list: IndexError.
"""

import threading
from collections.abc import Callable


class Mailbox:
    def __init__(self) -> None:
        self.filled = threading.Condition()
        self.letters: list[str] = []
        self.got: list[str] = []

    def put(self, letter: str) -> None:
        with self.filled:
            self.letters.append(letter)
            self.filled.notify()

    def get_if(self) -> None:
        with self.filled:
            if not self.letters:
                self.filled.wait()
            self.got.append(self.letters.pop())

    def get_while(self) -> None:
        with self.filled:
            while not self.letters:
                self.filled.wait()
            self.got.append(self.letters.pop())


def run(mailbox: Mailbox, get: Callable[[], None]) -> None:
    def write() -> None:
        mailbox.put("one")
        mailbox.put("two")

    threads = [threading.Thread(target=target) for target in (get, write, get)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(mailbox.got) == ["one", "two"]


def buggy() -> None:
    mailbox = Mailbox()
    run(mailbox, mailbox.get_if)


def safe() -> None:
    mailbox = Mailbox()
    run(mailbox, mailbox.get_while)
